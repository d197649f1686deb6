"""Documents that are read on first access."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from jaxstage_ext.report.document import Document
from jaxstage_ext.report.unavailable import Unavailable
from jaxstage_ext.report.view_parts import in_one_line


class Documents(Mapping[str, Document]):
    """The documents of the stages that were reached, each read on first access.

    One that cannot be read, such as a jaxpr that is too deep for JAX's printer, raises Unavailable with the reason;
    `get` passes over it.
    """

    def __init__(self, readers: Callable[[], Mapping[str, Callable[[], Document]]]) -> None:
        self._readers = readers
        self._read: dict[str, Document] = {}
        self._unreadable: dict[str, str] = {}
        self._lock = threading.RLock()

    def __getitem__(self, kind: str) -> Document:
        with self._lock:
            if kind not in self._read:
                readers = self._readers()
                if kind not in readers:
                    raise KeyError(f"{kind!r}: this inspection has {', '.join(readers) or 'no documents yet'}")
                self._read[kind] = self._document(kind, readers[kind])
            return self._read[kind]

    def _document(self, kind: str, read: Callable[[], Document]) -> Document:
        if kind in self._unreadable:
            raise Unavailable(self._unreadable[kind])
        try:
            return read()
        except (MemoryError, OSError, Unavailable):  # the next one who asks may have it
            raise
        except (Exception, SystemExit) as error:  # JAX's printer runs the code of the user's own values
            self._unreadable[kind] = f"the {kind} document cannot be read: {in_one_line(error)}"
            raise Unavailable(self._unreadable[kind]) from error

    @property
    def held(self) -> tuple[Document, ...]:
        """The documents that were read so far."""
        return tuple(self._read.values())

    def get(self, kind: str, default: Any = None) -> Any:
        """The document, or `default` where there is none that can be read."""
        try:
            return self[kind]
        except (KeyError, Unavailable, MemoryError, OSError):
            return default

    def __iter__(self) -> Iterator[str]:
        return iter(self._readers())

    def __len__(self) -> int:
        return len(self._readers())
