"""The events of a Chrome trace as columns, before they are told apart and put into lanes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from jaxstage_ext.profiling.chrome.chrome_names import RECORDING
from jaxstage_ext.profiling.chrome.chrome_text import EventBatch, Json, TraceText
from jaxstage_ext.profiling.chrome.decimal_times import Times, times

Longs = npt.NDArray[np.int64]
_HEAD = 4096
_LONGEST_NAME = 4096
_BLANK = (None, None, None, None)
_MEMORY = "[memory]"
_LARGEST_CORRELATION = 2**62


class Interned(dict[Hashable, int]):
    """Numbers values by when they were first asked for."""

    def __missing__(self, value: Hashable) -> int:
        number = self[value] = len(self)
        return number


@dataclass(frozen=True)
class RawEvents:
    """All events of a trace, in the order of the file."""

    head: Json
    """The fields beside the events."""
    is_list: bool
    """Whether there are none because the trace is a list."""
    keys: list[tuple[Any, ...]]
    """(ph, cat, pid, tid) by `key`."""
    names: list[str]
    """By `name`."""
    key: Longs
    name: Longs
    start: Times
    duration: Times
    """`start`, `duration`: `duration` of events without one is unknown."""
    flow: Longs
    """Index into `flows`, the id of a flow or of an asynchronous event; -1 for none."""
    flows: list[Hashable]
    correlation: Longs
    """Of a launch and its work; 0 for none."""
    op: Longs
    """Index into `ops`, (module, instruction); -1 for none."""
    ops: list[tuple[str, str]]
    run: Longs
    """Index into `runs`, (module, run id); -1 for none."""
    runs: list[tuple[str, str]]
    device: Longs
    """The ordinal that an event names; -1 for none."""
    offset: Longs
    """Where the event begins in the text."""
    empty: Longs
    """Rows of empty objects, such as the one that ends the list that XLA writes."""
    is_own: bool
    """Whether JAXStage wrote the trace."""
    special: list[tuple[int, str, Json]]
    """(row, phase, args) of what names processes and threads, of counters, and of PyTorch's memory instants."""

    def __len__(self) -> int:
        return len(self.key)

    @cached_property
    def thread(self) -> Longs:
        """Number of the (pid, tid) of each of `keys`."""
        numbers = Interned()
        return np.array([numbers[key[2:]] for key in self.keys], np.int64)


def raw_events(text: TraceText) -> RawEvents:
    """The columns of a trace. Raises UnreadableProfile."""
    builder = _Builder('"hlo_op"' in text.text or '"hlo_module"' in text.text, f'"{RECORDING}"' in text.text[:_HEAD])
    for batch in text.batches():
        builder.add(batch)
    return builder.built(text)


class _Builder:
    def __init__(self, has_hlo: bool, is_own: bool) -> None:
        self.has_hlo, self.is_own = has_hlo or is_own, is_own
        self.keys, self.names, self.flows, self.ops, self.runs = (Interned() for _ in range(5))
        self.columns: dict[str, list[Any]] = {}
        self.special: list[tuple[int, str, Json]] = []
        self.empty: list[int] = []
        self.rows = 0

    def add(self, batch: EventBatch) -> None:
        """Append a batch."""
        events = [event if type(event) is dict else {} for event in batch.events]
        args = [found if type(found := event.get("args")) is dict else _NO_ARGS for event in events]
        self._append(
            "key", self._interned(self.keys, [(e.get("ph"), e.get("cat"), e.get("pid"), e.get("tid")) for e in events])
        )
        self._append("name", [self.names[n if type(n := e.get("name")) is str else _as_name(n)] for e in events])
        self._append("start", times([event.get("ts") for event in events]))
        self._append("duration", times([event.get("dur") for event in events]))
        self._append("flow", self._flows(events))
        self._append("correlation", [_correlation(a) if a else 0 for a in args])
        self._append("offset", batch.offsets)
        blank = np.flatnonzero(self.columns["key"][-1] == self.keys.get(_BLANK, -1)).tolist()
        self.empty += [self.rows + row for row in blank if batch.events[row] == {}]
        if self.has_hlo:
            self._hlo(args)
        self._special(self.columns["key"][-1], events, args)
        self.rows += len(events)

    def _special(self, key: Longs, events: Sequence[Json], args: Sequence[Json]) -> None:
        phases = [number for number, key in enumerate(_tuples(self.keys)) if key[0] in ("M", "C", "i")]
        for row in np.flatnonzero(np.isin(key, phases)).tolist():
            if (phase := events[row]["ph"]) != "i" or events[row].get("name") == _MEMORY:
                self.special.append((self.rows + row, phase, args[row]))

    def _append(self, name: str, values: Any) -> None:
        column = values if isinstance(values, Times) else np.array(values, np.int64)
        self.columns.setdefault(name, []).append(column)

    def _interned(self, numbers: Interned, values: Sequence[Any]) -> list[int]:
        try:
            return [numbers[value] for value in values]
        except TypeError:
            return [numbers[_hashable(value)] for value in values]

    def _flows(self, events: Sequence[Json]) -> list[int]:
        return [
            -1 if (found := e.get("id", e.get("id2"))) is None else self.flows[(_plain(found), _plain(e.get("cat")))]
            for e in events
        ]

    def _hlo(self, args: Sequence[Json]) -> None:
        ops, runs, devices = [-1] * len(args), [-1] * len(args), [-1] * len(args)
        for row, fields in enumerate(args):
            module = fields.get("hlo_module") if fields else None
            if self.is_own and fields:
                runs[row] = -1 if (own := ordinal(fields.get("run"))) < 0 else self.runs[("", str(own))]
                devices[row] = ordinal(fields.get("device_ordinal"))
            if type(module) is not str:
                continue
            if type(op := fields.get("hlo_op")) is str:
                ops[row] = self.ops[(module, op)]
            if not self.is_own and (run := fields.get("run_id")) is not None:
                runs[row] = self.runs[(module, _plain(run))]
            devices[row] = ordinal(fields.get("device_ordinal"))
        self._append("op", ops)
        self._append("run", runs)
        self._append("device", devices)

    def built(self, text: TraceText) -> RawEvents:
        """All that was added."""
        return RawEvents(
            head=text.head,
            is_list=text.is_list,
            keys=_tuples(self.keys),
            names=[str(name) for name in self.names],
            key=self._column("key"),
            name=self._column("name"),
            start=self._times("start"),
            duration=self._times("duration"),
            flow=self._column("flow"),
            flows=list(self.flows),
            correlation=self._column("correlation"),
            op=self._column("op"),
            ops=_tuples(self.ops),
            run=self._column("run"),
            runs=_tuples(self.runs),
            device=self._column("device"),
            offset=self._column("offset"),
            empty=np.array(self.empty, np.int64),
            is_own=self.is_own,
            special=self.special,
        )

    def _column(self, name: str) -> Longs:
        parts = self.columns.get(name)
        return np.concatenate(parts) if parts else np.full(self.rows, -1, np.int64)

    def _times(self, name: str) -> Times:
        parts: list[Times] = self.columns.get(name) or [times([])]
        return Times(
            *(np.concatenate([getattr(part, field) for part in parts]) for field in ("whole", "part", "known"))
        )


_NO_ARGS: Json = {}


def _tuples(numbers: Interned) -> list[Any]:
    return list(numbers)


def ordinal(value: Any) -> int:
    """The number of a device, whether written as a number or as text; -1 for none."""
    number = int(value) if type(value) is str and value.isascii() and value.isdigit() and len(value) < 9 else value
    return number if type(number) is int and 0 <= number < 2**31 else -1


def _correlation(args: Json) -> int:
    found = args.get("correlation")
    if found is None and (found := args.get("correlation_id")) is None:
        return 0
    if type(found) is str and found.isascii() and found.isdigit() and len(found) < 19:
        return int(found)
    return found if type(found) is int and 0 < found < _LARGEST_CORRELATION else 0


def _as_name(value: Any) -> str:
    return "" if value is None else str(_plain(value))[:_LONGEST_NAME]


def _plain(value: Any) -> Any:
    """A value that can be hashed; `bytes`, the digits of a float, as text."""
    if type(value) is bytes:
        return value.decode()
    return value if value is None or type(value) in (str, int, bool) else repr(value)[:_LONGEST_NAME]


def _hashable(values: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(_plain(value) for value in values)
