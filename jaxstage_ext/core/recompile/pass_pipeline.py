"""The passes of a program: asked of the worker once, then kept by the inspection cache."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Callable, Sequence

from jaxstage_ext.core import stages
from jaxstage_ext.core.recompile import preparation
from jaxstage_ext.ir.passes import pass_document
from jaxstage_ext.ir.passes import pipeline as passes
from jaxstage_ext.ir.passes.versions import POOLS
from jaxstage_ext.ir.source import FrameTable
from jaxstage_ext.report.document import Document
from jaxstage_ext.report.progress import Progress
from jaxstage_ext.store import cache
from jaxstage_ext.store.lru import Lru

_KEPT = 100_000_000
"""Characters of documents that are kept for each inspection."""


def recompile(staged: stages.Staged, progress: Progress | None = None) -> passes.Pipeline:
    """Compile the program once more in the worker, with a dump after each pass.

    `progress` is called with the seconds and the pass that is reached; what it raises ends the compile.

    Raises:
      Unavailable, TargetError, WorkerDied, jax.errors.JaxRuntimeError: as `Prepared.ask`.
    """
    prepared = preparation.prepared(staged)
    key = prepared.key("passes")
    if key is not None and (kept := cache.load(key)) is not None:
        head, parts = kept
        return passes.pipeline(head, _renamed(parts, prepared.ours))
    answer = prepared.recompile("passes", staged.limits, progress)
    head, parts = answer["head"], answer["parts"]
    if key is not None and not head["notes"]:
        cache.store(key, head, *_renamed(parts, prepared.anonymous))
    return passes.pipeline(head, parts)


def _renamed(parts: Sequence[bytes], rename: Callable[[bytes], bytes]) -> list[bytes]:
    """The parts with a kernel's folder of cells renamed in the pools of lines and of metadata."""
    renamed = list(parts)
    for i, packed in enumerate(parts[:POOLS]):
        text = zlib.decompress(packed)
        if (other := rename(text)) is not text:
            renamed[i] = zlib.compress(other)
    return renamed


class PassLook:
    """An inspection's passes, looked at when they are first asked for, and their documents."""

    def __init__(self, staged: stages.Staged, table: FrameTable) -> None:
        self._staged, self._table = staged, table
        self._lock = threading.Lock()
        self._pipeline: passes.Pipeline | None = None
        self._documents: Lru[Document] = Lru(_KEPT)

    def pipeline(self, progress: Progress | None = None) -> passes.Pipeline:
        """The passes; see `recompile`."""
        with self._lock:
            if self._pipeline is None:
                self._pipeline = recompile(self._staged, progress)
            return self._pipeline

    @property
    def known(self) -> passes.Pipeline | None:
        """The passes, if they were looked at."""
        return self._pipeline

    def document(self, kind: str) -> Document | None:
        """The module that a kind such as "pass:12" names; None where there is none, or the passes are not known yet."""
        number, pipeline = kind.removeprefix(pass_document.PREFIX), self._pipeline
        if pipeline is None or number == kind or not number.isascii() or not number.isdigit():
            return None
        if int(number) >= len(pipeline.versions):
            return None
        with self._lock:
            if (made := self._documents.get(kind)) is None:
                made = pass_document.read(pipeline.versions, int(number), self._table)
                self._documents.put(kind, made, len(made.text))
            return made
