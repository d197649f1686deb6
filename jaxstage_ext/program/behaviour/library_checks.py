"""Callbacks that check for errors while a program runs, put there by equinox for a library that the user calls."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from jaxstage_ext.core.jax_private import effect_rules
from jaxstage_ext.report.frames import Frames

_MODULE = "equinox._errors"
_OF_A_RESULT = "EnumerationItem.error_if"
"""How diffrax, optimistix and lineax check the result of a solver, unless it is called with `throw=False`."""


@dataclass(frozen=True)
class LibraryCheck:
    """A check of equinox's."""

    solver: str = ""
    """The function whose argument `throw=False` leaves it out, "diffrax.diffeqsolve"; "" where none does."""


def check_of(eqn: Any, stacks: Iterable[int], frames: Frames) -> LibraryCheck | None:
    """The check that a callback is, of those around it the stacks; None for another callback."""
    function = effect_rules.called_function(eqn)
    if getattr(function, "__module__", "") != _MODULE:
        return None
    return LibraryCheck(next((solver for stack in stacks for solver in _solver(stack, frames)), ""))


def _solver(stack: int, frames: Frames) -> Iterator[str]:
    """The functions with `throw` in a stack that checks a result, innermost first."""
    called = [(frames.files[frames.file[i]].package, frames.functions[frames.function[i]]) for i in frames.stack(stack)]
    names = [function for _, function in called]
    if _OF_A_RESULT not in names:
        return
    for package, function in called[names.index(_OF_A_RESULT) + 1 :]:
        if _has_throw(getattr(sys.modules.get(package), function, None)):
            yield f"{package}.{function}"


def _has_throw(function: Any) -> bool:
    try:
        return "throw" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
