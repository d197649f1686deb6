"""What processes send one another once their programs differ: texts to the report's author, the report back."""

from __future__ import annotations

import time
from collections.abc import Collection

from jaxstage_ext.processes.meeting import SLICE, KeyValueStore, MeetingPoint
from jaxstage_ext.processes.processes_disagree import ProcessesDisagree
from jaxstage_ext.processes.program_texts import ProgramTexts

_MOST_CHARACTERS = 3_000_000
"""Of a message: the store takes 4 MB of one."""
NO_REPORT = "the processes disagree, and the process that compares them has not said in what"


class SharedReport:
    """The messages of one meeting that ended in a disagreement."""

    def __init__(self, store: KeyValueStore, point: MeetingPoint) -> None:
        self._store, self._point = store, point

    def send(self, texts: ProgramTexts) -> None:
        """Send this process's texts, or a note that they are too long."""
        packed = texts.packed()
        if len(packed) > _MOST_CHARACTERS:
            packed = texts.without_stages().packed()
        self._store.put(f"{self._point.texts}{texts.process}", packed)

    def texts(self, processes: Collection[int], seconds: float) -> dict[int, ProgramTexts]:
        """The texts of all that send them within some seconds."""
        deadline, found = time.monotonic() + seconds, dict[int, ProgramTexts]()
        for process in sorted(processes):
            left = deadline - time.monotonic()
            if left > 0 and (packed := self._wait(f"{self._point.texts}{process}", left)) is not None:
                found[process] = ProgramTexts.unpacked(packed)
        return found

    def publish(self, error: ProcessesDisagree) -> None:
        """Tell all processes the error."""
        self._store.put(self._point.report, error.to_json())

    def wait(self, seconds: float) -> ProcessesDisagree:
        """The error that the report's author tells."""
        told = self._wait(self._point.report, seconds)
        return ProcessesDisagree(NO_REPORT) if told is None else ProcessesDisagree.from_json(told)

    def _wait(self, key: str, seconds: float) -> str | None:
        """The text of a key, waited for in slices so that an interrupt takes effect."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            if (text := self._store.wait(key, min(left, SLICE))) is not None:
                return text
        return None
