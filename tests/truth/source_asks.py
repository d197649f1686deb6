"""What a user reads about the source of operations: the line, the expression, whose it is."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

from jaxstage_ext.report.document import OP, Document
from jaxstage_ext.report.frames import SourceSpan


def span_at(document: Document, text: str) -> SourceSpan:
    """The source of the first line that has this text."""
    line = next(number for number, written in enumerate(document.lines, 1) if text in written)
    span = document.source_of(line)
    assert span is not None, f"no source of {document.lines[line - 1]!r}"
    return span


def code(span: SourceSpan) -> str:
    """The expression of a span as it stands in its file, runs of blanks as one."""
    lines = [linecache.getline(span.file, number) for number in range(span.line, span.end_line + 1)]
    lines[-1] = lines[-1][: span.end_column - 1]
    lines[0] = lines[0][span.column - 1 :]
    return " ".join("".join(lines).split())


def expression(kind: str, text: str) -> Callable[[Any], str]:
    """Asks for the expression that the first line with this text comes from, alone."""
    return lambda inspection: f"<{code(span_at(inspection.documents[kind], text))}>"


def line_text(kind: str, text: str) -> Callable[[Any], str]:
    """Asks for the source line of the first line with this text, and how it is linked."""

    def asked(inspection: Any) -> str:
        span = span_at(inspection.documents[kind], text)
        how = "inferred" if span.inferred else "library" if span.library else "direct"
        return f"{how}: {linecache.getline(span.file, span.line).strip()}"

    return asked


def coverage(kind: str) -> Callable[[Any], tuple[int, int, int, int]]:
    """Asks for (direct, library, inferred, none)."""

    def asked(inspection: Any) -> tuple[int, int, int, int]:
        of = inspection.documents[kind].coverage
        return of.direct, of.library, of.inferred, of.total - of.linked

    return asked


def stack(kind: str, text: str) -> Callable[[Any], list[str]]:
    """Asks for the call stack of the first line with this text, innermost first, by function."""

    def asked(inspection: Any) -> list[str]:
        document = inspection.documents[kind]
        line = next(number for number, written in enumerate(document.lines, 1) if text in written)
        return [span.function.rpartition(".")[2] for span in document.stack_of(line)]

    return asked


def operations(document: Document) -> list[str]:
    """The lines of operations."""
    return [line for line, flags in zip(document.lines, document.flags.tolist(), strict=True) if flags & OP]


def equations_a_line(inspection: Any) -> bool:
    """Whether every equation of the jaxpr has a line of its own."""
    from jaxstage_ext.core.jax_private import jaxprs

    return inspection.documents["jaxpr"].coverage.total == jaxprs.count_equations(inspection.traced.jaxpr)
