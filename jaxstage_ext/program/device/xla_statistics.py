"""XLA's memory statistics of an executable, or why there are none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from jaxstage_ext.report.unavailable import Unavailable

_NONE = "this backend gives no memory statistics"


class MemoryStatistics(NamedTuple):
    """Sizes in bytes by XLA's names; empty for the reason given."""

    sizes: Mapping[str, int]
    reason: str


def of(compiled: Any) -> MemoryStatistics:
    """Those of a `jax.stages.Compiled` or an `Executable`."""
    try:
        stats = compiled.memory_analysis()
    except Unavailable as reason:
        return MemoryStatistics({}, str(reason))
    except Exception as error:
        text = " ".join(str(error).split())
        return MemoryStatistics({}, f"{_NONE}: {text if len(text) <= 120 else text[:119] + '…'}")
    names = [name for name in dir(stats) if name.endswith("_bytes")]
    return MemoryStatistics(
        {name: int(value) for name in names if isinstance(value := getattr(stats, name), int)}, _NONE
    )
