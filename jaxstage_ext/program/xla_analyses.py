"""XLA's own analyses of an executable, asked once: figures, or why there is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from jaxstage_ext.report.unavailable import Unavailable

_PEAK = "peak_memory_in_bytes"
_SIZES = ("argument_size_in_bytes", "output_size_in_bytes", "temp_size_in_bytes")
_NONE = "this backend gives no analysis"

Figure = tuple[float | None, str]
"""A value, or None and the reason."""


@dataclass(frozen=True)
class Analyses:
    """What XLA says of an executable, each with the reason where it says nothing: costs and sizes by XLA's names."""

    costs: Mapping[str, float] | None
    no_costs: str
    memory: Mapping[str, int] | None
    no_memory: str

    def cost(self, key: str) -> Figure:
        """A figure of the cost analysis: "flops", "bytes accessed", "optimal_seconds"."""
        if self.costs is None:
            return None, self.no_costs
        value = self.costs.get(key)
        if value is None or value < 0:
            return None, f"XLA's cost analysis has no figure for {key!r}"
        return value, ""

    @property
    def peak(self) -> Figure:
        """Bytes of one device's memory; CPU executables may leave temporaries out of it."""
        if self.memory is None:
            return None, self.no_memory
        peak = self.memory[_PEAK]
        empty = not any(self.memory.values())
        return (peak, "") if peak or empty else (None, "XLA's memory analysis leaves it at zero")


def of(compiled: Any) -> Analyses:
    """Those of a `jax.stages.Compiled` or an `Executable`; each takes XLA a walk over the whole module."""
    costs, no_costs = _asked(compiled.cost_analysis)
    if isinstance(costs, list):
        costs = costs[0] if costs else None
    memory, no_memory = _asked(compiled.memory_analysis)
    sizes = None if memory is None else {name: int(getattr(memory, name, 0)) for name in (_PEAK, *_SIZES)}
    return Analyses(costs if isinstance(costs, Mapping) else None, no_costs, sizes, no_memory)


def _asked(analysis: Callable[[], Any]) -> tuple[Any, str]:
    try:
        return analysis(), _NONE
    except Unavailable as reason:
        return None, str(reason)
    except Exception as error:
        text = " ".join(str(error).split())
        return None, f"{_NONE}: {text if len(text) <= 120 else text[:119] + '…'}"
