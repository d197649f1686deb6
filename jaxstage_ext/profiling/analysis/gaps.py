"""The longest times in which a device has nothing to run, and what the host did then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jaxstage_ext.profiling.analysis import timeline_wording as wording
from jaxstage_ext.profiling.analysis.busy import DeviceTime
from jaxstage_ext.profiling.analysis.host_activity import HostActivity, HostCause, HostDoing
from jaxstage_ext.profiling.analysis.host_labels import HostLabels
from jaxstage_ext.profiling.analysis.intervals import Intervals
from jaxstage_ext.report.recording import SECOND
from jaxstage_ext.report.table import Column, Table

MOST_GAPS = 20


@dataclass(frozen=True)
class Gap:
    """A time in which a device is idle, in picoseconds, and what the host did."""

    device: str
    start: int
    duration: int
    doing: HostDoing


def longest(times: Sequence[DeviceTime], hosts: Mapping[int, HostActivity], most: int = MOST_GAPS) -> list[Gap]:
    """The longest idle times of all devices, the longest first."""
    idle = [
        (int(end - start), -number, int(start))
        for number, time in enumerate(times)
        for start, end in _longest_of(time.idle, most)
    ]
    gaps = []
    for duration, number, start in sorted(idle, reverse=True)[:most]:
        time = times[-number]
        during = Intervals(np.array([start], np.int64), np.array([start + duration], np.int64))
        gaps.append(Gap(time.device.title, start, duration, hosts[time.device.host].during(during)))
    return gaps


def _longest_of(idle: Intervals, most: int) -> list[tuple[int, int]]:
    order = np.argsort(idle.start - idle.end, kind="stable")[:most]
    return list(zip(idle.start[order].tolist(), idle.end[order].tolist(), strict=True))


def table(gaps: Sequence[Gap], labels: HostLabels, has_devices: bool = True) -> Table:
    """One row an idle time, the longest first."""
    doings = [gap.doing for gap in gaps]
    columns = {
        "device": Column([gap.device for gap in gaps]),
        "start": Column(np.array([gap.start for gap in gaps], float) / SECOND, "s", "since the recording began"),
        "duration": Column(np.array([gap.duration for gap in gaps], float) / SECOND, "s", "how long nothing runs"),
        "host": Column([_or_none(doing, wording.doing(doing)) for doing in doings], "", "what the host did meanwhile"),
        "line": Column([labels.label(doing.line) for doing in doings], "", "the line of Python that it was at"),
        "share": Column([_or_none(doing, doing.share) for doing in doings], "", "of the gap, for which it did that"),
    }
    reasons = {(row, "line"): wording.NO_HOST_LINE for row, doing in enumerate(doings) if doing.line is None}
    for row, doing in enumerate(doings):
        if doing.cause is HostCause.UNKNOWN:
            reasons |= {(row, name): wording.NO_HOST_EVENT for name in ("host", "share")}
    return Table(
        "gaps", columns, reasons, () if gaps else (wording.NO_GAPS if has_devices else wording.NO_DEVICE_WORK,)
    )


def _or_none(doing: HostDoing, value: Any) -> Any:
    return None if doing.cause is HostCause.UNKNOWN else value
