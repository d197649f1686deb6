"""The dtype conversions of an Inspection, made of what it holds when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from jaxstage_ext.analysis.dtypes import conversions, dtype_table
from jaxstage_ext.analysis.dtypes.conversions import Conversion
from jaxstage_ext.analysis.dtypes.dtype_table import Dtypes
from jaxstage_ext.core import jaxpr_lines, stages
from jaxstage_ext.program import cost_inputs
from jaxstage_ext.report.unavailable import Unavailable

if TYPE_CHECKING:
    from jaxstage_ext.inspection import Inspection


def read(inspection: Inspection) -> Dtypes:
    """Every promotion and demotion, of the jaxpr and of the optimised module where there is one.

    Raises Unavailable where nothing was traced.
    """
    traced = stages.unwrap(inspection.traced)
    if traced is None:
        raise Unavailable(f"{inspection.name} was not traced by JAX itself, so its dtypes are not known")
    found = list(conversions.of_jaxpr(traced.jaxpr, _liner(inspection)))
    return dtype_table.join([*found, *_compiled(inspection)])


def is_any(inspection: Inspection) -> bool:
    """Whether the jaxpr has a conversion."""
    traced = stages.unwrap(inspection.traced)
    return traced is not None and next(conversions.of_jaxpr(traced.jaxpr, lambda eqn: ""), None) is not None


def _liner(inspection: Inspection) -> Callable[[Any], str]:
    """A function from an equation to its source line."""
    frame_of, frames = jaxpr_lines.frame_reader(inspection._table), inspection._table.freeze()

    def line_of(eqn: Any) -> str:
        nonlocal frames
        frame = frame_of(eqn)
        if frame >= len(frames):
            frames = inspection._table.freeze()
        return cost_inputs.label(frames, int(frames.user[frame]) if frame >= 0 else -1)

    return line_of


def _compiled(inspection: Inspection) -> list[Conversion]:
    if inspection._hlo_proto() is None:
        return []
    module = inspection._module_columns
    return list(conversions.of_hlo(module, cost_inputs.located(inspection, module)))
