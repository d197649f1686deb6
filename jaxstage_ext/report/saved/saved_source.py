"""Whether what is saved holds source, and a source document without it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from jaxstage_ext.report import kernel_settings

if TYPE_CHECKING:
    from jaxstage_ext.report.document import Document

SOURCE = "python"
"""The kind of the document of the user's source."""
_LEFT_OUT = " (source left out)"


def is_kept(asked: bool | None = None) -> bool:
    """Whether a saved form holds source: as it was asked for, or else by default."""
    return kernel_settings.now().saves_source if asked is None else asked


def kept(documents: Mapping[str, Document], asked: bool | None = None) -> Mapping[str, Document]:
    """The documents as they are saved: all of them, or the source's with its files and line numbers alone."""
    if is_kept(asked) or SOURCE not in documents:
        return documents
    return {kind: _without_source(documents[kind]) if kind == SOURCE else documents[kind] for kind in documents}


def _without_source(document: Document) -> Document:
    number = document.number
    assert number is not None
    rows = zip(document.lines, number.tolist(), document.fold_end.tolist(), strict=True)
    return replace(document, text="\n".join("" if line > 0 else _titled(text, end) for text, line, end in rows))


def _titled(text: str, fold_end: int) -> str:
    return f"{text}{_LEFT_OUT}" if fold_end >= 0 else text
