"""The documents of two programs, line by line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jaxstage_ext.ir.document_difference import DocumentDifference, document_difference
from jaxstage_ext.program.program import Program

SOURCE = "python"
COMPARED = ("jaxpr", "stablehlo", "hlo")


def program_difference(
    before: Program, after: Program, kinds: Sequence[str] = COMPARED
) -> tuple[Mapping[str, DocumentDifference], Mapping[str, str]]:
    """(the difference of each kind of document, why that of a kind is unknown)."""
    differences, unknown = dict[str, DocumentDifference](), dict[str, str]()
    for kind in kinds:
        having = sum(kind in program.documents for program in (before, after))
        if having == 1:
            unknown[kind] = "only one of the two has it"
        if having < 2:
            continue
        try:
            differences[kind] = document_difference(before.documents[kind], after.documents[kind])
        except ValueError as error:  # too long, or it cannot be read
            unknown[kind] = str(error)
    return differences, unknown
