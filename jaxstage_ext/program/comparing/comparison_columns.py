"""The figures that the targets of a call are compared by."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from jaxstage_ext.program.head.executable_figures import NEEDED
from jaxstage_ext.report.table import Column

ESTIMATE = "estimate"
"""The column that a comparison has only where something estimates a time."""
_RUN = "one run on one device, loops as often as they run"


def _column(title: str, doc: str, unit: str = "", lower_is_better: bool | None = None) -> Column:
    return Column((), unit, doc, title, lower_is_better)


COLUMNS: Mapping[str, Column] = MappingProxyType(
    {
        "fits": _column("fits", "whether the memory needed is within what one device has"),
        "memory": _column("memory needed", f"{NEEDED}; on a TPU the program's code too", "B", True),
        "capacity": _column(
            "capacity",
            "memory of one device: a TPU's by its maker, a GPU's by its driver; CPU devices share the machine's",
            "B",
        ),
        "flops": _column("FLOPs", f"counted on the optimised HLO: {_RUN}", "FLOP"),
        "bytes": _column("bytes moved", f"counted on the optimised HLO: {_RUN}", "B", True),
        "time": _column(
            "lower bound", "the least time of a run by the device's peaks, as in Cost; not measured", "s", True
        ),
        ESTIMATE: _column(
            "estimated time",
            "the time of a call as XLA's schedule predicts it, of a TPU put together from XLA's cycles; not measured",
            "s",
            True,
        ),
        "collectives": _column("collectives", "in the module; those in a loop's body count once", lower_is_better=True),
        "sent": _column("sent", f"bytes that collectives send: {_RUN}; a lower bound", "B", True),
        "fusions": _column("fusions", "fusion instructions of the optimised HLO"),
        "kernels": _column(
            "kernel launches", f"of instructions, copies and collectives left out: {_RUN}", lower_is_better=True
        ),
        "compile": _column("compile time", "seconds that XLA took here, not what the target would take", "s", True),
    }
)
"""Each figure by its name, in the order in which they are shown; without values."""
