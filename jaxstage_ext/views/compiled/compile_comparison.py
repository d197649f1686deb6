"""Two compiles side by side: why they differ, and the lines in which their documents do, as text and as HTML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from jaxstage_ext.ir.document_difference import SKIPPED, DocumentDifference, Line
from jaxstage_ext.report.document_kinds import KINDS
from jaxstage_ext.report.text import markup
from jaxstage_ext.report.text.markup import Html, said
from jaxstage_ext.report.text.still_table import Face
from jaxstage_ext.report.text.terminal import clean, cut

MOST_LINES, LONGEST_LINE = 200, 200
"""Lines of a difference that are shown of a document, and characters of each."""
_SAME = "no difference"
_MARKS = {"added": "+", "removed": "-", SKIPPED: "…"}


@dataclass(frozen=True, eq=False, repr=False)
class ComparedCompiles:
    """Two records of the compile log side by side.

    Attributes:
      before, after: how they are titled.
      why: why the later one came about, where the earlier one is what it was compared with; "" elsewhere.
      documents: the difference of the documents that both have, by kind: "jaxpr", "stablehlo", "hlo".
      unknown: why the documents of a kind could not be compared.
    """

    before: str
    after: str
    why: str
    documents: Mapping[str, DocumentDifference]
    unknown: Mapping[str, str]

    def __repr__(self) -> str:
        return "\n".join(self._text())

    def _text(self) -> Iterator[str]:
        yield clean(f"{self.before} → {self.after}")
        if self.why:
            yield clean(self.why)
        for kind, difference in self.documents.items():
            yield f"\n{KINDS[kind].title}: {_counted(difference)}"
            shown = difference.changes()
            yield from (f"  {_mark(line)} {cut(clean(line[3]), LONGEST_LINE)}" for line in shown[:MOST_LINES])
            if len(shown) > MOST_LINES:
                yield f"  … {len(shown) - MOST_LINES:,} more lines"
        for kind, reason in self.unknown.items():
            yield f"\n{KINDS[kind].title}: unknown ({clean(reason)})"

    def _repr_html_(self) -> str:
        head, *rest = self._text()
        return markup.together((said(head, face=Face.STRONG), markup.block(map(_line, rest))))


def _counted(difference: DocumentDifference) -> str:
    return ", ".join(f"{count:,} {what}" for what, count in difference.counts.items() if count) or _SAME


def _mark(line: Line) -> str:
    what, before, after, _ = line
    if what in ("same", "renamed"):
        return " "
    return _MARKS.get(what) or ("+" if before is None else "-" if after is None else "~")


def _line(line: str) -> Html:
    if not line.startswith("  "):
        return said(line, face=Face.STRONG)
    return said(line, face={"+": Face.ADDED, "-": Face.REMOVED}.get(line[2:3], Face.TEXT))
