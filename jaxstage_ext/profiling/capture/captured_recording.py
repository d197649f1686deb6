"""From a capture to a Recording, of bounded size, with lanes of sampled lines and of what JAX compiled."""

from __future__ import annotations

import dis
import linecache
from collections.abc import Sequence
from dataclasses import fields, replace
from types import CodeType

import numpy as np
import numpy.typing as npt

from jaxstage_ext.profiling.capture.added_lanes import AddedLane, with_lanes
from jaxstage_ext.profiling.capture.capture import Capture
from jaxstage_ext.profiling.capture.compile_times import CompileTime
from jaxstage_ext.profiling.capture.sampler import Samples
from jaxstage_ext.profiling.mosaic.mosaic_merge import captures_of, with_on_device
from jaxstage_ext.profiling.xplane import xplane
from jaxstage_ext.report.numbering import Numbering
from jaxstage_ext.report.recording import EventKind, EventLane, Events, HostLine, LaneKind, Loss, Lost, Recording
from jaxstage_ext.report.text.shortened import shortened


def recording_of(capture: Capture) -> Recording:
    """What was captured, on one clock, bounded."""
    on_device = captures_of(capture.on_device)
    read = with_on_device(xplane.read(capture.data, capture.title), on_device, capture.options.sm_clock)
    lanes = [sampled_lane(capture.samples)] if capture.samples is not None else []
    return limited(with_lanes(read, [*lanes, compile_lane(capture.compiled)]), capture.options.limit)


def limited(recording: Recording, most: int) -> Recording:
    """No more than `most` events: first those of hidden lanes go, then the latest ones."""
    count = len(recording.events)
    if count <= most:
        return recording
    hidden = np.array([lane.hidden for lane in recording.lanes], bool)[recording.events.lane]
    kept = np.zeros(count, bool)
    first = np.lexsort((recording.events.start, hidden))[: max(most, 0)]
    kept[first] = True
    return replace(
        recording,
        events=_rows(recording.events, kept),
        lost=(*recording.lost, Lost(Loss.CUT, int(count - kept.sum()))),
        details=_KeptDetails(recording, np.flatnonzero(kept)),
    )


def _rows(events: Events, kept: npt.NDArray[np.bool_]) -> Events:
    return Events(**{each.name: getattr(events, each.name)[kept] for each in fields(Events) if each.init})


class _KeptDetails:
    """The profile's fields of the events that were kept."""

    def __init__(self, recording: Recording, rows: npt.NDArray[np.int64]) -> None:
        self._details, self._rows = recording.details, rows

    def __call__(self, event: int) -> dict[str, object]:
        return dict(self._details(int(self._rows[event])))


SAMPLED = "Python (sampled)"
COMPILING = "JAX's tracing and compiling"
_LONGEST = 80


def sampled_lane(samples: Samples) -> AddedLane:
    """What the thread ran: the call that the user's innermost line was in, else that line.

    Around the lines of an iterator is what asked it for a value.
    """
    known = [stretch for stretch in samples.stretches if stretch.code is not None]
    asking = [(each.start, each.end, each.asker, each.asked_at) for each in known]
    running_then = [(each.start, each.end, each.code, each.instruction) for each in known]
    places = [place for place in (*asking, *running_then) if place[2] is not None]
    numbers: dict[tuple[CodeType | None, int], int] = {}
    texts = Numbering[tuple[str, HostLine]]()
    for _, _, code, instruction in places:
        if code is not None and (code, instruction) not in numbers:
            numbers[code, instruction] = texts[running(code, instruction)]
    return AddedLane(
        EventLane("host", SAMPLED, LaneKind.PYTHON),
        EventKind.PYTHON,
        np.array([start for start, *_ in places], np.int64),
        np.array([end for _, end, *_ in places], np.int64),
        np.array([numbers[code, instruction] for *_, code, instruction in places], np.int32),
        [text for text, _ in texts],
        {number: line for number, (_, line) in enumerate(texts)},
    )


def running(code: CodeType, instruction: int) -> tuple[str, HostLine]:
    """What an instruction is part of, as text: the call `next(batches)`, else its whole line; and its line."""
    positions = list(code.co_positions())
    at = instruction // 2
    line, last, column, end = positions[at] if 0 <= at < len(positions) else (None, None, None, None)
    line = line or code.co_firstlineno
    text = linecache.getline(code.co_filename, line).rstrip("\n")
    call = _within(text, column, end) if last == line and _calls(code, instruction) else ""
    shown = call or text.strip().removesuffix(":")
    where = HostLine(code.co_filename, line, code.co_qualname, _bounded(shown))
    return _bounded(shown or code.co_qualname), where


def _calls(code: CodeType, instruction: int) -> bool:
    """Whether the instruction is a call; a loop that asks for its next value has the position of what it iterates."""
    given = code.co_code
    return 0 <= instruction < len(given) and "CALL" in dis.opname[given[instruction]]


def _within(text: str, column: int | None, end: int | None) -> str:
    """The columns of a line; Python counts them in UTF-8."""
    if column is None or end is None:
        return ""
    return text.encode("utf-8", "replace")[column:end].decode("utf-8", "replace")


def _bounded(text: str) -> str:
    text = " ".join(text.split())
    return shortened(text, _LONGEST)


def compile_lane(times: Sequence[CompileTime]) -> AddedLane:
    """What JAX traced, lowered and compiled, nested by time."""
    texts = Numbering[str]()
    name = [texts[f"{time.stage} {time.function}".strip()] for time in times]
    return AddedLane(
        EventLane("host", COMPILING, LaneKind.HOST),
        EventKind.COMPILE,
        np.array([time.start for time in times], np.int64),
        np.array([time.end for time in times], np.int64),
        np.array(name, np.int32),
        list(texts),
    )
