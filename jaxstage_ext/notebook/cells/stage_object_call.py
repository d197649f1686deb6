"""Objects that JAX made of a function, on a magic's line or as the last line of its cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from IPython.core.error import UsageError

from jaxstage_ext.core.call import Call
from jaxstage_ext.core.given import given_call as given_checks
from jaxstage_ext.core.given.given_call import given_call, given_object
from jaxstage_ext.core.given.symbolic import SymbolicAxis
from jaxstage_ext.notebook.lines.arguments import Dims


@dataclass(frozen=True)
class LineOptions:
    """What the magic's line says of a call.

    Attributes:
      stage: the last stage to run.   cell: the label of the cell.   has_mesh: whether it has `--mesh`.
      jit: the options of `jax.jit`.
    """

    stage: str
    cell: str
    dims: Dims
    compiler_options: Mapping[str, Any]
    jit: Mapping[str, Any]
    has_mesh: bool


def call_of(value: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], asked: LineOptions) -> Call:
    """The Call of an object of JAX's.

    Raises UsageError where it does not have the stage, comes too late for an option or does not take the arguments.
    """
    try:
        given = given_object(value, args, kwargs, asked.dims)
        assert given is not None
        given_checks.check(given, asked.stage, asked.compiler_options, asked.jit, asked.has_mesh)
    except (TypeError, ValueError) as error:
        kind = "" if isinstance(error, SymbolicAxis) else f"{type(value).__name__}: "
        raise UsageError(f"{kind}{error}") from None
    return given_call(given, "", asked.cell, asked.compiler_options)
