"""Documents that are read on first access."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping

from jaxstage_ext.report.document import Document


class Documents(Mapping[str, Document]):
    """The documents of the stages that were reached, each read on first access."""

    def __init__(self, readers: Callable[[], Mapping[str, Callable[[], Document]]]) -> None:
        self._readers = readers
        self._read: dict[str, Document] = {}
        self._lock = threading.RLock()

    def __getitem__(self, kind: str) -> Document:
        with self._lock:
            if kind not in self._read:
                readers = self._readers()
                if kind not in readers:
                    raise KeyError(f"{kind!r}: this inspection has {', '.join(readers) or 'no documents yet'}")
                self._read[kind] = readers[kind]()
            return self._read[kind]

    def __iter__(self) -> Iterator[str]:
        return iter(self._readers())

    def __len__(self) -> int:
        return len(self._readers())
