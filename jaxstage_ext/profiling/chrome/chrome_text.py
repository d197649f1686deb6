"""The text of a Chrome trace, event by event: no more than a batch of them is in memory as Python objects.

The format: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU (Trace Event Format).
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn

from jaxstage_ext.profiling.unreadable import UnreadableProfile

Json = dict[str, Any]
BATCH = 8192
_SPACE = re.compile(r"[ \t\r\n]*").match
_GAP = re.compile(r"[ \t\r\n]*(?:(,)[ \t\r\n]*)?").match
_LARGEST_HEAD = 2**20
"""Characters of a field beside the events that are kept."""


@dataclass(frozen=True)
class EventBatch:
    """Events of a trace as JSON values, and where each begins in the text. Floats are `bytes`: their digits."""

    events: list[Any]
    offsets: list[int]


def _decoder(**options: Any) -> json.JSONDecoder:
    return json.JSONDecoder(strict=False, **options)


_DIGITS = _decoder(parse_float=str.encode)
_PLAIN = _decoder()


@dataclass
class TraceText:
    """A Chrome trace: an object with `traceEvents`, or the list of events alone."""

    text: str
    title: str
    head: Json = field(default_factory=dict)
    """The other fields of the object, complete once `batches` is exhausted."""
    is_list: bool = False
    """Whether the trace is the list alone."""
    found_events: bool = False

    def batches(self) -> Iterator[EventBatch]:
        """The events in order. Raises UnreadableProfile where the text is not a Chrome trace or ends too early."""
        at = self._after_space(self.text.startswith("\ufeff"))
        opening = self.text[at : at + 1]
        if opening == "[":
            self.is_list = self.found_events = True
            at = yield from self._events(at + 1)
        elif opening == "{":
            at = yield from self._fields(at + 1)
        else:
            self._foreign()
        if self._after_space(at) < len(self.text):
            self._damaged(at)
        if not self.found_events:
            self._foreign()

    def event(self, offset: int) -> Any:
        """The event at an offset that a batch gave."""
        return self._value(offset)[0]

    def _fields(self, at: int) -> Generator[EventBatch, None, int]:
        at = self._after_space(at)
        while self.text[at : at + 1] != "}":
            name, at = self._value(at)
            at = self._after_space(at)
            if type(name) is not str or self.text[at : at + 1] != ":":
                self._damaged(at)
            at = self._after_space(at + 1)
            if name == "traceEvents" and self.text[at : at + 1] == "[":
                self.found_events = True
                at = yield from self._events(at + 1)
            else:
                value, end = self._value(at)
                if end - at < _LARGEST_HEAD:
                    self.head[name] = value
                at = end
            at = self._after_comma(at, "}")
        return at + 1

    def _events(self, at: int) -> Generator[EventBatch, None, int]:
        """The events of the list that begins before `at`; the value of the generator is where the list ends."""
        at, text = self._after_space(at), self.text
        while text[at : at + 1] != "]":
            if at >= len(text):
                if not self.is_list:
                    self._damaged(at)
                return at  # The format lets a list end without its bracket, as a recorder that was stopped leaves it.
            batch = EventBatch([], [])
            try:
                at = self._fill(batch, at)
            except (RecursionError, ValueError) as error:
                self._refused(error, at)
            yield batch
        return at + 1

    def _fill(self, batch: EventBatch, at: int) -> int:
        """Read events into a batch until it is full or their list ends; where the next one begins."""
        text, scan, events, offsets = self.text, _DIGITS.raw_decode, batch.events.append, batch.offsets.append
        for _ in range(BATCH):
            if text[at : at + 1] in ("]", ""):
                break
            offsets(at)
            event, end = scan(text, at)
            events(event)
            gap = _GAP(text, end)
            at = gap.end()  # type: ignore[union-attr]
            if gap.lastindex is None and text[at : at + 1] not in ("]", ""):  # type: ignore[union-attr]
                self._damaged(at)
        return at

    def _value(self, at: int) -> tuple[Any, int]:
        try:
            return _PLAIN.raw_decode(self.text, at)
        except (RecursionError, ValueError) as error:
            self._refused(error, at)

    def _refused(self, error: Exception, at: int) -> NoReturn:
        if isinstance(error, UnreadableProfile):
            raise error
        if isinstance(error, json.JSONDecodeError):
            self._damaged(error.pos)
        why = "is nested too deep" if isinstance(error, RecursionError) else f"cannot be read: {error}"
        raise UnreadableProfile(f"{self.title}: the JSON from character {at:,} on {why}") from None

    def _after_space(self, at: int) -> int:
        return _SPACE(self.text, at).end()  # type: ignore[union-attr]

    def _after_comma(self, at: int, closing: str) -> int:
        at = self._after_space(at)
        following = self.text[at : at + 1]
        if following == ",":
            return self._after_space(at + 1)
        if following != closing and not (following == "" and self.is_list):
            self._damaged(at)
        return at

    def _damaged(self, at: int) -> NoReturn:
        if at >= len(self.text.rstrip()):
            raise UnreadableProfile(
                f"{self.title}: the trace ends in the middle, after {len(self.text):,} characters: its writer was "
                "stopped or the copy is not complete; record it once more"
            )
        raise UnreadableProfile(f"{self.title}: the JSON is damaged at character {at:,}: {self.text[at : at + 40]!r}")

    def _foreign(self) -> NoReturn:
        raise UnreadableProfile(
            f"{self.title} is not a Chrome trace: neither a list of events nor an object with traceEvents, but "
            f"{self.text[:40]!r}"
        )
