"""The log of this kernel's compiles: bounded, in order, one for the process."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jaxstage_ext.compilation.records.compile_record import CompileRecord

MOST_RECORDS = 10_000
"""Records that are kept; older ones are dropped and counted."""
MOST_BYTES = 45_000_000
"""Bytes that the records keep alive by their own estimates; the same."""


class CompileLog:
    """Records in the order in which they began.

    Attributes:
      dropped: how many older ones were let go.
      clears: how often JAX's caches were seen cleared.
      faults: how often a part of a record could not be read; `last_fault` is the newest of them.
    """

    def __init__(self, most: int = MOST_RECORDS, most_bytes: int = MOST_BYTES) -> None:
        self._records: deque[CompileRecord] = deque()
        self._most, self._most_bytes = most, most_bytes
        self._bytes = 0
        self._lock = threading.RLock()  # an object's end may compile, inside `add`
        self._made = 0
        self.dropped = 0
        self.clears = 0
        self.faults = 0
        self.last_fault = ""
        self.on_end: list[Callable[[CompileRecord], None]] = []
        """Called, without raising, when the last stage of a record has ended."""

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[CompileRecord]:
        with self._lock:
            return iter(tuple(self._records))

    @property
    def newest(self) -> int:
        """The last number that was given; 0 before the first."""
        return self._made

    def next_number(self) -> int:
        """A number that no record has had."""
        with self._lock:
            self._made += 1
            return self._made

    def add(self, record: CompileRecord) -> None:
        """Keep a record, and let go of the oldest beyond the limit."""
        with self._lock:
            self._records.append(record)
            self._bytes += record.bytes
            while len(self._records) > self._most or (self._bytes > self._most_bytes and len(self._records) > 1):
                self._bytes -= self._records.popleft().bytes
                self.dropped += 1

    def ended(self, record: CompileRecord) -> None:
        """The last stage of a record has ended."""
        for call in tuple(self.on_end):
            try:
                call(record)
            except Exception as error:
                self.fault(error)

    def fault(self, error: Exception) -> None:
        """A part of a record could not be read."""
        self.faults += 1
        self.last_fault = f"{type(error).__name__} in {_function(error)}"

    def record(self, number: int) -> CompileRecord | None:
        """The record of that number; None where it was dropped, or never was."""
        return next((record for record in self if record.number == number), None)

    def of_executable(self, executable: Any) -> CompileRecord | None:
        """The newest record that made an executable, as long as the log keeps that."""
        from jaxstage_ext.core.jax_private.xla_executables import is_made_by

        if executable is None:
            return None
        with self._lock:
            newest_first = reversed(self._records)
            return next((one for one in newest_first if is_made_by(one.artefacts.executable, executable)), None)

    def clear(self) -> None:
        """Forget all records; numbers go on."""
        with self._lock:
            self._records.clear()
            self._bytes = 0


def _function(error: Exception) -> str:
    """The innermost function that the error came through."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace.tb_frame.f_code.co_qualname if trace is not None else ""


LOG = CompileLog()


def forget() -> None:
    """Forget all records of this process."""
    LOG.clear()
