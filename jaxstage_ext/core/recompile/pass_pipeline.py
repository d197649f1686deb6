"""The passes of an inspection's program: asked of the worker once, then kept by the inspection cache."""

from __future__ import annotations

import os
import threading
from typing import Any

from jaxstage_ext.core import stages
from jaxstage_ext.core.recompile import program
from jaxstage_ext.core.targets import packages
from jaxstage_ext.core.targets.prepared import Prepared
from jaxstage_ext.ir.passes import pass_document
from jaxstage_ext.ir.passes import pipeline as passes
from jaxstage_ext.ir.source import FrameTable
from jaxstage_ext.report.document import Document
from jaxstage_ext.report.progress import Progress
from jaxstage_ext.store import cache
from jaxstage_ext.store.lru import Lru
from jaxstage_ext.worker import pool

_KEPT = 100_000_000
"""Characters of documents that are kept for each inspection."""


def look(staged: stages.Staged, progress: Progress | None = None) -> passes.Pipeline:
    """Compile the program once more in the worker, with a dump after each pass.

    `progress` is told the seconds and the pass that is reached; what it raises ends the look.

    Raises:
      Unavailable, TargetError, worker.WorkerDied, jax.errors.JaxRuntimeError: as `Prepared.ask`.
    """
    prepared = program.prepared(staged)
    key = _key(prepared)
    if (found := cache.load(key)) is None:
        how = {"lane": pool.RECOMPILE, "progress": progress}
        answer = prepared.ask("passes", staged.limits, how=how)
        found = answer["head"], answer["parts"]
        if not answer["head"]["notes"]:
            cache.store(key, found[0], *found[1])
    return passes.pipeline(*found)


def _key(prepared: Prepared) -> str:
    target, request = prepared.target, prepared.request
    where = (target.platform, target.kind, target.topology, str(request["room"]), repr(request["order"]))
    return cache.key(
        "passes", *where, _plugin(target), os.environ.get("XLA_FLAGS", ""), request["module"], request["options"]
    )


def _plugin(target: Any) -> str:
    return "" if target.platform == "cpu" else str(packages.find(target.platform).version)


class PassLook:
    """An inspection's passes, looked at when they are first asked for, and their documents."""

    def __init__(self, staged: stages.Staged, table: FrameTable) -> None:
        self._staged, self._table = staged, table
        self._lock = threading.Lock()
        self._pipeline: passes.Pipeline | None = None
        self._documents: Lru[Document] = Lru(_KEPT)

    def pipeline(self, progress: Progress | None = None) -> passes.Pipeline:
        """The passes; see `look`."""
        with self._lock:
            if self._pipeline is None:
                self._pipeline = look(self._staged, progress)
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
