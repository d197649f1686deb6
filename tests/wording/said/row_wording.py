"""What is said where rows of a table are chosen."""

from wordings import constants

from jaxstage_ext.report.rows import row_wording as wording
from jaxstage_ext.report.table import Column, Table

SAID = {
    **constants(wording),
    "no such column": wording.no_column("bytez", "cost", ["instruction", "opcode"]),
    "a limit of 0": wording.bad_limit(0, 41),
    "where is a text": wording.bad_where("opcode=fusion"),
    "no row has it": wording.no_row("opcode", "dot", ["fusion", "copy"]),
    "no row fits a function": wording.no_row("FLOPs", max, []),
    "a table without rows": wording.no_row("opcode", "dot", []),
    "head of a table": wording.head("cost", 41, ["instruction", "FLOPs (FLOP)"]),
    "more of a table": wording.more(Table("cost", {"opcode": Column([]), "FLOPs": Column([], "FLOP")})),
    "arro3 is missing": wording.needs_arrow(),
}
