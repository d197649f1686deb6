"""How many lines of each stage two programs differ in, and which."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from jaxstage_ext.ir.document_difference import SKIPPED, DocumentDifference
from jaxstage_ext.program.comparing.program_difference import COMPARED, SOURCE, program_difference
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.document_kinds import KINDS
from jaxstage_ext.report.table import Column, Table

_COUNTS = {
    "changed": "lines that correspond and differ",
    "moved": "lines that moved",
    "removed": "lines that only the first has",
    "added": "lines that only the second has",
    "renamed": "lines that differ in names alone",
}


@dataclass(frozen=True, eq=False)
class Differences(Table):
    """One row a stage. `documents` are the lines that differ, by kind of document."""

    documents: Mapping[str, DocumentDifference] = field(default_factory=dict)

    def text(self, kind: str) -> str:
        """The lines that differ of "python", "jaxpr", "stablehlo" or "hlo", and those around them, as `diff -u` does.

        Raises KeyError where that document is not compared.
        """
        if kind not in self.documents:
            raise KeyError(f"{kind!r}: there is {', '.join(self.documents) or 'nothing'} to compare")
        return "\n".join(_marked(*line) for line in self.documents[kind].changes())


def _marked(what: str, before: int | None, after: int | None, text: str) -> str:
    if what == SKIPPED:
        return f"  … {text}"
    return f"{' ' if (before is None) == (after is None) else '-' if after is None else '+'} {text}"


def differences(before: Program, after: Program) -> Differences:
    """From the first program to the second. A document that cannot be compared says why."""
    found, unknown = program_difference(before, after, (SOURCE, *COMPARED))
    kinds = [kind for kind in (SOURCE, *COMPARED) if kind in found or kind in unknown]
    counts = [found[kind].counts if kind in found else dict.fromkeys(_COUNTS) for kind in kinds]
    columns = {"document": Column([KINDS[kind].title for kind in kinds])}
    columns |= {name: Column([one[name] for one in counts], "", doc) for name, doc in _COUNTS.items()}
    reasons = {(row, name): unknown[kind] for row, kind in enumerate(kinds) if kind in unknown for name in _COUNTS}
    return Differences(f"{before.label} → {after.label}", columns, reasons, documents=found)
