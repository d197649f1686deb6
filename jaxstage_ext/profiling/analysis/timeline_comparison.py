"""What grew and what shrank from one timeline to another, per step."""

from __future__ import annotations

import enum
from dataclasses import dataclass

import numpy as np

from jaxstage_ext.profiling.analysis import comparison_notes as wording
from jaxstage_ext.profiling.analysis.device_work import DeviceWork
from jaxstage_ext.profiling.analysis.steps import table as steps_of
from jaxstage_ext.report.recording import EventKind, Recording
from jaxstage_ext.report.table import Column, Table

GROUPS = {
    "line": ("line",),
    "op": ("module", "op"),
    "kernel": ("kernel",),
    "scope": ("scope",),
    "kind": ("activity", "category"),
}
Key = tuple[str | None, ...]


class TimesOf(enum.Enum):
    """What the times of a timeline are of; times of two sorts are not compared."""

    NOTHING = "device work, of which there is none"
    KERNELS = "kernels on a device"
    OPS = "HLO ops on a device"
    THREADS = "HLO ops on threads of the CPU"
    RANGES = "ranges inside a kernel"
    ESTIMATES = "estimates of what did not run"


@dataclass(frozen=True)
class Side:
    """One of two timelines: what its times are of, its title, how many steps it has, and its table."""

    mode: TimesOf
    title: str
    steps: int
    table: Table


def check(by: str) -> None:
    """Raises ValueError for a group that cannot be compared by."""
    if by not in GROUPS:
        raise ValueError(f"cannot compare by {by!r}: give one of {', '.join(map(repr, GROUPS))}")


def side(recording: Recording, work: DeviceWork, table: Table) -> Side:
    """One of two timelines."""
    return Side(_mode(recording, work), recording.title, max(len(steps_of(recording, work)), 1), table)


def _mode(recording: Recording, work: DeviceWork) -> TimesOf:
    if recording.prediction is not None:
        return TimesOf.ESTIMATES
    if recording.format == "mosaic":
        return TimesOf.RANGES
    if not len(work):
        return TimesOf.NOTHING
    kinds = recording.events.kind[work.event]
    on_threads = any(recording.lanes[lane].device < 0 for lane in np.unique(recording.events.lane[work.event]).tolist())
    if on_threads:
        return TimesOf.THREADS
    return TimesOf.KERNELS if (kinds == EventKind.KERNEL).any() else TimesOf.OPS


def compare(one: Side, other: Side, by: str) -> Table:
    """The self time per step of each group in both, the largest change first.

    Raises ValueError where the times of the two are different quantities.
    """
    modes = [side.mode for side in (one, other) if side.mode is not TimesOf.NOTHING]
    if len(set(modes)) > 1:
        raise ValueError(wording.other_mode(*(mode.value for mode in modes)))
    before, after = _per_step(one, by), _per_step(other, by)
    keys = sorted({**before, **after}, key=lambda key: -abs(after.get(key, 0.0) - before.get(key, 0.0)))
    olds, news = [before.get(key) for key in keys], [after.get(key) for key in keys]
    changes = [(new or 0.0) - (old or 0.0) for old, new in zip(olds, news, strict=True)]
    columns = {name: Column([key[place] for key in keys]) for place, name in enumerate(GROUPS[by])}
    columns |= {
        "before": Column(olds, "s", f"self time per step in {one.title}"),
        "after": Column(news, "s", f"self time per step in {other.title}"),
        "change": Column(changes, "s", "how much it grew"),
        "ratio": Column(
            [new / old if old and new is not None else None for old, new in zip(olds, news, strict=True)],
            "",
            "after over before",
        ),
    }
    reasons = {(row, "before"): wording.NOT_IN_FIRST for row, old in enumerate(olds) if old is None}
    reasons |= {(row, "after"): wording.NOT_IN_SECOND for row, new in enumerate(news) if new is None}
    no_ratio = [row for row, (old, new) in enumerate(zip(olds, news, strict=True)) if not old or new is None]
    reasons |= {(row, "ratio"): wording.NO_RATIO for row in no_ratio}
    reasons |= {
        (row, name): wording.UNKNOWN_GROUP
        for row, key in enumerate(keys)
        for name, part in zip(GROUPS[by], key, strict=True)
        if part is None
    }
    return Table(
        "changes",
        columns,
        reasons,
        (wording.per_step(next(iter(modes), TimesOf.NOTHING).value, one.steps, other.steps),),
    )


def _per_step(one: Side, by: str) -> dict[Key, float]:
    groups: dict[Key, float] = {}
    for row in one.table.rows():
        key = tuple(row[name] for name in GROUPS[by])
        groups[key] = groups.get(key, 0.0) + row["self"] / one.steps
    return groups
