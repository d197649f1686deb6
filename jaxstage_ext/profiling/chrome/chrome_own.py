"""What `chrome_writer` wrote beside the events, read back, so that the lanes of a recording are the same again."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from jaxstage_ext.profiling.chrome.chrome_columns import RawEvents
from jaxstage_ext.profiling.chrome.chrome_counters import number
from jaxstage_ext.profiling.chrome.chrome_lanes import SpanLanes
from jaxstage_ext.profiling.chrome.chrome_names import LANE, RECORDING
from jaxstage_ext.profiling.chrome.chrome_spans import WINDOW, ClockBase, Spans
from jaxstage_ext.profiling.chrome.chrome_text import Json
from jaxstage_ext.profiling.predictions import written_prediction
from jaxstage_ext.report.prediction import Prediction
from jaxstage_ext.report.recording import NONE, CounterSeries, EventKind, EventLane, LaneKind, Loss, Lost

_KINDS = {kind.name.lower(): kind for kind in EventKind}
_LARGEST = 2**31


@dataclass(frozen=True)
class OwnTrace:
    """A trace that JAXStage wrote: its head, its lanes in order, and the lane of each (process, thread)."""

    head: Json
    lanes: tuple[EventLane, ...]
    number: dict[tuple[Hashable, Hashable], int]

    @property
    def title(self) -> str:
        """What was profiled."""
        return str(self.head.get("title", ""))

    @property
    def origin(self) -> int | None:
        """Unix time of time 0, in nanoseconds; None where it is unknown."""
        origin = self.head.get("origin")
        return origin if type(origin) is int and abs(origin) < 2**63 else None

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names of the machines."""
        hosts = self.head.get("hosts")
        return tuple(map(str, hosts)) if type(hosts) is list and hosts else ("",)

    @property
    def lost(self) -> tuple[Lost, ...]:
        """What the recording that was written had lost."""
        listed = self.head.get("lost")
        read = [_lost(entry) for entry in listed] if type(listed) is list else []
        return tuple(lost for lost in read if lost is not None)

    @property
    def prediction(self) -> Prediction | None:
        """What it rests on where nothing ran; None of what was recorded."""
        return written_prediction.read(_with_numbers(self.head.get("prediction")))

    @property
    def device_facts(self) -> dict[str, Json]:
        """What the profile says of its devices."""
        facts = self.head.get("device_facts")
        if type(facts) is not dict:
            return {}
        return {group: _with_numbers(fact) for group, fact in facts.items() if type(fact) is dict}

    @property
    def total(self) -> int:
        """Events of the profile, those left out among them."""
        total = self.head.get("total")
        return total if type(total) is int and 0 <= total < _LARGEST else 0

    def counters(self, raw: RawEvents) -> tuple[CounterSeries, ...]:
        """The counters, one a lane."""
        samples: dict[tuple[int, str, str], list[tuple[int, float]]] = {}
        base = ClockBase(0, 0)
        for row, phase, args in raw.special:
            lane = self.number.get(raw.keys[int(raw.key[row])][2:])
            if phase == "C" and lane is not None and raw.start.known[row] and raw.start.whole[row] < WINDOW:
                for unit, value in args.items():
                    if (sample := number(value)) is not None:
                        series = (lane, raw.names[int(raw.name[row])], "" if unit == "value" else unit)
                        samples.setdefault(series, []).append((row, sample))
        return tuple(
            CounterSeries(lane, name, base.since(raw.start, np.array(rows)), np.array(values), unit)
            for (lane, name, unit), points in samples.items()
            for rows, values in (zip(*points, strict=True),)
        )

    def lanes_of(self, raw: RawEvents, spans: Spans) -> SpanLanes:
        """The lane, kind and device of each span."""
        key = raw.key[spans.row]
        lanes = np.array([self.number.get(key[2:], NONE) for key in raw.keys], np.int64)
        kinds = np.array([_KINDS.get(key[1], EventKind.OTHER) for key in raw.keys], np.uint8)
        lane = lanes[key]
        device = np.array([lane.device for lane in self.lanes], np.int64)[lane]
        device = np.where(raw.device[spans.row] != NONE, raw.device[spans.row], device)
        return SpanLanes(self.lanes, lane, kinds[key], device)


def own_trace(raw: RawEvents) -> OwnTrace | None:
    """What JAXStage wrote beside the events; None where it did not write the trace, or another tool changed it."""
    if not raw.is_own:
        return None
    head: Json | None = None
    lanes: dict[int, EventLane] = {}
    numbers: dict[tuple[Hashable, Hashable], int] = {}
    for row, phase, args in raw.special:
        if phase != "M" or (name := raw.names[int(raw.name[row])]) not in (RECORDING, LANE):
            continue
        if name == RECORDING:
            head = args
        elif (lane := _lane(args)) is not None:
            lanes[args["number"]] = lane
            numbers[raw.keys[int(raw.key[row])][2:]] = args["number"]
    used = {key[2:] for key in raw.keys if key[0] not in ("M", None)}
    if head is None or sorted(lanes) != list(range(len(lanes))) or not used <= set(numbers):
        return None
    return OwnTrace(head, tuple(lanes[number] for number in range(len(lanes))), numbers)


def _lane(args: Json) -> EventLane | None:
    texts, numbers = ("group", "name", "kind"), ("number", "device", "host")
    if not all(type(args.get(name)) is str for name in texts):
        return None
    if not all(type(args.get(name)) is int and NONE <= args[name] < _LARGEST for name in numbers):
        return None
    if args["kind"] not in list(LaneKind) or args["host"] < 0:
        return None
    kind, hidden = LaneKind(args["kind"]), args.get("hidden") is True
    return EventLane(args["group"], args["name"], kind, args["device"], args["host"], hidden)


def _with_numbers(value: Any) -> Any:
    """JSON values whose floats are numbers again; `TraceText` gives their digits."""
    if type(value) is dict:
        return {name: _with_numbers(one) for name, one in value.items()}
    if type(value) is list:
        return [_with_numbers(one) for one in value]
    return number(value) if type(value) is bytes else value


def _lost(entry: Any) -> Lost | None:
    if type(entry) is not list or len(entry) != 3 or entry[0] not in Loss.__members__:
        return None
    loss, count, where = entry
    return Lost(Loss[loss], count if type(count) is int else None, str(where))
