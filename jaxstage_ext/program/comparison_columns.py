"""The figures that the targets of a call are compared by."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from jaxstage_ext.report.table import Column

_LOOPS = "a loop's body counts once"


def _column(title: str, doc: str, unit: str = "", lower_is_better: bool | None = None) -> Column:
    return Column((), unit, doc, title, lower_is_better)


COLUMNS: Mapping[str, Column] = MappingProxyType(
    {
        "fits": _column("fits", "whether XLA's peak memory is within what one device has, by its maker"),
        "memory": _column("peak memory", "XLA's peak of one device", "B", True),
        "capacity": _column("capacity", "memory of one device, by its maker", "B"),
        "flops": _column("FLOPs", f"XLA's cost analysis of one device's program; {_LOOPS}", "FLOP"),
        "bytes": _column("bytes accessed", f"XLA's cost analysis of one device's program; {_LOOPS}", "B", True),
        "fusions": _column("fusions", "fusion instructions of the optimised HLO"),
        "kernels": _column(
            "kernels",
            f"instructions that launch a kernel; copies and collectives left out, {_LOOPS}",
            lower_is_better=True,
        ),
        "collectives": _column(
            "collectives", f"instructions that exchange data between devices; {_LOOPS}", lower_is_better=True
        ),
        "exchanged": _column(
            "exchanged",
            f"bytes that one device hands to collectives, of an all-gather those that it gets; {_LOOPS}",
            "B",
            True,
        ),
        "time": _column(
            "compiler's estimate", f"optimal_seconds of XLA's cost analysis, not measured; {_LOOPS}", "s", True
        ),
        "cycles": _column("estimated cycles", f"the TPU compiler's estimates, collectives left out; {_LOOPS}"),
        "compile": _column("compile time", "seconds that XLA took here, not what the target would take", "s", True),
    }
)
"""Each figure by its name, in the order in which they are shown; without values."""
