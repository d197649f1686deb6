"""The kernels of several runs as one list."""

from __future__ import annotations

from collections.abc import Sequence

from jaxstage_ext.profiling.order_statistics import quantile
from jaxstage_ext.profiling.timing import KernelTime

Kernels = Sequence[tuple[str, float]]
"""(name, seconds) in the order of their start."""


def per_run(runs: Sequence[Kernels]) -> tuple[tuple[KernelTime, ...], bool]:
    """Each kernel with the median of its time over the runs, and whether all runs started the same kernels in order.

    Where they did not, the kernels of one name are added up in each run.
    """
    same = len({tuple(name for name, _ in kernels) for kernels in runs}) == 1
    columns = runs if same else _by_name(runs)
    return tuple(_median(kernel) for kernel in zip(*columns, strict=True)), same


def _median(kernel: Sequence[tuple[str, float]]) -> KernelTime:
    return KernelTime((kernel[0][0], 1e3 * quantile([seconds for _, seconds in kernel], 0.5)))


def _by_name(runs: Sequence[Kernels]) -> list[Kernels]:
    names = dict.fromkeys(name for kernels in runs for name, _ in kernels)
    totals: list[Kernels] = []
    for kernels in runs:
        total = dict.fromkeys(names, 0.0)
        for name, seconds in kernels:
            total[name] += seconds
        totals.append(list(total.items()))
    return totals
