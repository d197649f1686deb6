"""What heads a program, asked for by views, which import no JAX themselves."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING

from jaxstage_ext.report.text.public_paths import public_text

if TYPE_CHECKING:
    from jaxstage_ext.program.head.summary_form import Summary
    from jaxstage_ext.program.program import Program


_made: ContextVar[dict[int, Summary] | None] = ContextVar("summaries of the form that is being made", default=None)


@contextlib.contextmanager
def summarised_once() -> Iterator[None]:
    """Within the block `summary_of` makes the summary of each program once: all parts of a form say the same.

    The programs are held by the caller, and the block ends with the form: nothing is remembered after it.
    """
    if _made.get() is not None:
        yield
        return
    token = _made.set({})
    try:
        yield
    finally:
        _made.reset(token)


def summary_of(program: Program) -> Summary:
    """The summary of a program. Where there is a program, JAX is imported already."""
    from jaxstage_ext.program.head import summary

    made = _made.get()
    if made is None:
        return summary.summary(program)
    if id(program) not in made:
        made[id(program)] = summary.summary(program)
    return made[id(program)]


def call_title(program: Program) -> str:
    """The call's name and the types of its arguments, in one line."""
    if program.saved_summary is not None:
        return program.saved_summary["signature"]
    from jaxstage_ext.program.head.call_signature import signature

    traced = program.jax_traced is not None
    return program.results.once(("call title", traced), lambda: public_text(signature(program)))


def memory_is_known(program: Program) -> bool:
    """Whether the program's memory was computed, of which its head shows a figure. Computes nothing."""
    from jaxstage_ext.program.questions.memory import memory

    return memory.is_known(program)
