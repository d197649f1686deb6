"""The passes of XLA's pipeline, and the modules between them."""

from __future__ import annotations

import threading

from jaxstage_ext.core.given import dumped_module
from jaxstage_ext.core.recompile import pass_pipeline
from jaxstage_ext.ir.passes import pass_document
from jaxstage_ext.ir.passes.pipeline import Pipeline
from jaxstage_ext.program.fact import fact, slow_fact
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.document import Document
from jaxstage_ext.report.progress import Progress
from jaxstage_ext.store.lru import Lru

_KEPT = 100_000_000
"""Characters of documents that are kept for each program."""


@slow_fact
def passes(program: Program, progress: Progress | None) -> Pipeline:
    """The passes of XLA's pipeline: the program compiled once more in the worker, with a dump after each pass.

    Raises Unavailable where that cannot be, with the reason; and what such a compile raises.
    """
    if (dumped := program.held_dump()) is not None:
        return dumped_module.passes(dumped, progress)
    return pass_pipeline.recompile_passes(program.staged, progress)


class _Modules:
    """The modules that were read, the latest ones."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._documents: Lru[Document] = Lru(_KEPT)

    def document(self, program: Program, pipeline: Pipeline, number: int) -> Document:
        kind = f"{pass_document.PREFIX}{number}"
        with self._lock:
            if (document := self._documents.get(kind)) is None:
                lowered = program.documents.get("stablehlo")
                document = pass_document.read(pipeline.versions, number, program.frame_table, lowered)
                self._documents.put(kind, document, len(document.text))
            return document


@fact
def _modules(program: Program) -> _Modules:
    return _Modules()


def module_after(program: Program, kind: str) -> Document | None:
    """The module that a kind such as "pass:12" names; None where there is none, or the passes are not known yet."""
    number, pipeline = kind.removeprefix(pass_document.PREFIX), passes.known(program)
    if pipeline is None or number == kind or not number.isascii() or not number.isdigit():
        return None
    if int(number) >= len(pipeline.versions):
        return None
    return _modules(program).document(program, pipeline, int(number))
