"""`%targets --measure`: the peaks of this machine's CPU."""

from __future__ import annotations

from jaxstage_ext.store import cache

_KEPT = "Programs for this CPU that are inspected from now on use them."
_FOR_THIS_KERNEL = " %config JAXStage.cache_dir keeps them for later kernels."


def ceilings() -> str:
    """Measure them, and give them as text."""
    from jaxstage_ext.profiling.timing.measure_ceilings import measure_ceilings

    measured = measure_ceilings()
    return f"{measured}\n{_KEPT}{'' if cache.has_folder() else _FOR_THIS_KERNEL}"
