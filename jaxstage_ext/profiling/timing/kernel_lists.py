"""The kernels of several runs as one list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from jaxstage_ext.profiling.timing.order_statistics import quantile
from jaxstage_ext.profiling.timing.run_times import KernelTime

Kernels = Sequence[tuple[str, float]]
"""(name, seconds) in the order of their start."""


def per_run(runs: Sequence[Kernels]) -> tuple[tuple[KernelTime, ...], bool]:
    """Each kernel with the median of its time over the runs, and whether all runs started the same kernels.

    Kernels of one name are the same where they are as many-th in their run; the order is that of the first run. Where
    runs did not start the same, the kernels of one name are added up in each run.
    """
    columns = [_numbered(kernels) for kernels in runs]
    same = all(column.keys() == columns[0].keys() for column in columns)
    if not same:
        columns = _by_name(runs)
    medians = ((key[0], 1e3 * quantile([column[key] for column in columns], 0.5)) for key in columns[0])
    return tuple(map(KernelTime, medians)), same


def _numbered(kernels: Kernels) -> dict[tuple[str, int], float]:
    counts: Counter[str] = Counter()
    numbered = {}
    for name, seconds in kernels:
        numbered[name, counts[name]] = seconds
        counts[name] += 1
    return numbered


def _by_name(runs: Sequence[Kernels]) -> list[dict[tuple[str, int], float]]:
    names = dict.fromkeys((name, 0) for kernels in runs for name, _ in kernels)
    totals = [dict.fromkeys(names, 0.0) for _ in runs]
    for kernels, total in zip(runs, totals, strict=True):
        for name, seconds in kernels:
            total[name, 0] += seconds
    return totals
