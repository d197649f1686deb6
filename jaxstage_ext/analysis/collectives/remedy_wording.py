"""What is said of changes that were tried against collectives."""

from __future__ import annotations

from jaxstage_ext.analysis.collectives.collective_causes import CauseKind
from jaxstage_ext.report.text.units import scaled

NONE_HELPS = "What was tried does not help: the devices send no less, or take longer in all."
ENOUGH = "not tried: enough others were"
NO_MEMORY = "the memory of one of the two programs is unknown"
NO_BOUND = "the lower bound of one of the two programs is unknown"
NO_FLOPS = "the FLOPs of one of the two programs are unknown"
WITHOUT_OUT_SPECS = "no out_specs"
_NOTED = 1.05
"""From this multiple of the FLOPs on, they are said."""
_WHY = {
    CauseKind.PARTIAL_SUMS: "it adds partial sums, since a dimension that is summed over is sharded",
    CauseKind.WRITTEN: "the program calls it",
    CauseKind.BACKWARD: "the backward pass calls it",
    CauseKind.PARTITIONING: "the parts of an operation need each other's data",
    CauseKind.RESHARDING: "what it reshards is no argument or result that was given a sharding",
    CauseKind.UNKNOWN: "its cause is unknown",
}


def argument(name: str, spec: str) -> str:
    """What to write for an argument."""
    return f"{name} sharded {spec}"


def no_change(kind: CauseKind) -> str:
    """Why no other sharding was tried."""
    return _WHY[kind]


def not_removed(collective: str, why: str) -> str:
    """That nothing is known that removes a collective."""
    return f"No change is known that removes the {collective}: {why}."


def remedy(change: str, sent: float, seconds: float, memory: int | None, flops: float | None) -> str:
    """What a change that helps does."""
    time = f" in at least {scaled(seconds, 's')} less" if seconds > 0 else ""
    costs = [f"needs {scaled(abs(memory), 'B')} {'more' if memory > 0 else 'less'} memory"] if memory else []
    costs += [f"does {flops:.3g} times the FLOPs"] if flops is not None and flops >= _NOTED else []
    beside = f"; it {' and '.join(costs)}" if costs else ""
    return f"With {change} each device sends {scaled(sent, 'B')} less{time}{beside}."
