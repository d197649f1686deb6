"""The dtype conversions of an Inspection, made of what it holds when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from jaxstage_ext import numbers
from jaxstage_ext.analysis import dtypes
from jaxstage_ext.analysis.dtypes import Conversion, Dtypes
from jaxstage_ext.core import stages
from jaxstage_ext.ir import jaxpr

if TYPE_CHECKING:
    from jaxstage_ext.inspection import Inspection


def read(inspection: Inspection) -> Dtypes:
    """Every promotion and demotion, of the jaxpr and of the optimised module where there is one.

    Raises NoNumbers where nothing was traced.
    """
    traced = stages.unwrap(inspection.traced)
    if traced is None:
        raise numbers.NoNumbers(f"{inspection.name} was not traced by JAX itself, so its dtypes are not known")
    found = list(dtypes.of_jaxpr(traced.jaxpr, _liner(inspection)))
    return dtypes.join([*found, *_compiled(inspection)])


def is_any(inspection: Inspection) -> bool:
    """Whether the jaxpr has a conversion."""
    traced = stages.unwrap(inspection.traced)
    return traced is not None and next(dtypes.of_jaxpr(traced.jaxpr, lambda eqn: ""), None) is not None


def _liner(inspection: Inspection) -> Callable[[Any], str]:
    """A function from an equation to its source line."""
    frame_of, frames = jaxpr.frame_reader(inspection._table), inspection._table.freeze()

    def line_of(eqn: Any) -> str:
        nonlocal frames
        frame = frame_of(eqn)
        if frame >= len(frames):
            frames = inspection._table.freeze()
        return numbers.label(frames, int(frames.user[frame]) if frame >= 0 else -1)

    return line_of


def _compiled(inspection: Inspection) -> list[Conversion]:
    if inspection._hlo_proto() is None:
        return []
    ops = inspection._operations
    return list(dtypes.of_hlo(ops, inspection._module_columns, numbers.located(inspection, ops)))
