"""What stands beside the lines of an Inspection's documents, and the warnings at them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from jaxstage_ext.analysis.margin import dtype_margin, resharding_warnings, sharding_margin
from jaxstage_ext.analysis.margin.line_values import Lane
from jaxstage_ext.analysis.margin.resharding_warnings import Warned
from jaxstage_ext.ir.hlo import module as hlo
from jaxstage_ext.program import cost_inputs, summary
from jaxstage_ext.program import shardings as sharded
from jaxstage_ext.report.progress import Progress

if TYPE_CHECKING:
    from jaxstage_ext.inspection import Inspection

WarnedOf = tuple[Lane, tuple[Warned, ...], list[list[tuple[str, int]]]]


def shardings(inspection: Inspection, progress: Progress) -> Lane:
    """The sharding of each value at its line; that of values between is asked of the compiler, as for `intermediates`.

    Raises Unavailable where nothing was lowered.
    """
    values, notes, module = inspection.shardings.values, list[str](), None
    try:
        inspection.propagate(progress)
        module = sharded.propagated(inspection)
    except (RuntimeError, ValueError, OSError, MemoryError) as error:  # arguments and results hold without it
        notes.append(f"Of arguments and results alone: {' '.join(str(error).split())[:300]}")
    documents = {kind: inspection.documents[kind] for kind in inspection.documents}
    optimised = None
    if inspection._hlo_proto() is not None:
        optimised = inspection._module_columns, cost_inputs.located(inspection, inspection._module_columns)
    places = inspection._first_places()
    definition = places[-1] if places else None
    frames = inspection._table.freeze()
    return sharding_margin.lane(
        sharding_margin.Program(frames, documents, values, module, optimised, definition, tuple(notes))
    )


def dtypes(inspection: Inspection, progress: Progress) -> Lane:
    """Each change of dtype at its line. Raises Unavailable where nothing was traced."""
    conversions = inspection.dtypes.conversions
    documents = {kind: inspection.documents[kind] for kind in inspection.documents}
    return dtype_margin.lane(documents, inspection._table.freeze(), conversions)


def exchanges(inspection: Inspection) -> int:
    """How many collectives the optimised module has; 0 without one."""
    if inspection._hlo_proto() is None:
        return 0
    count = int(np.isin(inspection._module_columns.opcode, hlo.COLLECTIVES).sum())
    in_pieces = count and summary.platform(inspection) == "tpu"  # TPUs carry one out in several fusions
    return len(inspection.exchanged()) if in_pieces else count


def warnings(inspection: Inspection, progress: Progress) -> WarnedOf:
    """What is laid anew or gathered whole: at the lines, in itself, and where each stands.

    Raises Unavailable where nothing was compiled.
    """
    found = resharding_warnings.read(inspection.find_collectives(progress), inspection.documents["hlo"])
    lane, places = resharding_warnings.lane(found, inspection.documents)
    return lane, found, places
