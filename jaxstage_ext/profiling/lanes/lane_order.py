"""The order in which lanes are shown: the devices and hosts as the recording has them, of each the kinds in theirs."""

from __future__ import annotations

import re

from jaxstage_ext.report.recording import EventLane, LaneKind, Recording

_KINDS = {kind: place for place, kind in enumerate(LaneKind)}


def lane_order(recording: Recording) -> list[int]:
    """Indices of all lanes in the order in which they are shown: devices before hosts, hidden lanes last in a group."""
    lanes = recording.lanes
    first: dict[tuple[int, str], int] = {}
    for number, lane in enumerate(lanes):
        first.setdefault((lane.host, lane.group), number)
    has_device = {(lane.host, lane.group) for lane in lanes if lane.device >= 0}

    def place(number: int) -> tuple[object, ...]:
        lane = lanes[number]
        group = (lane.host, lane.group)
        return group not in has_device, first[group], lane.hidden, _KINDS[lane.kind], natural(lane), number

    return sorted(range(len(lanes)), key=place)


def natural(lane: EventLane) -> list[tuple[int, str]]:
    """A lane's name for sorting: numbers in it by their value, so that "Stream #9" is before "Stream #13"."""
    return [
        (int(part), "") if part.isascii() and part.isdecimal() else (-1, part)
        for part in re.split(r"([0-9]{1,18})", lane.name[:200])
    ]
