"""A table in a terminal or in the text output of a notebook."""

from __future__ import annotations

from jaxstage_ext.report.table import Column, Table
from jaxstage_ext.report.text.still_table import LONGEST_LINE

SENTENCE = "Can't tell what bounds it: the peaks of this kernel's cpu are unknown. " * 3


def test_a_sentence_is_wrapped_in_its_column_and_whole() -> None:
    columns = {
        "question": Column(["What bounds it?", "Does it fit?"]),
        "answer": Column([SENTENCE, "yes"]),
        "row": Column([130, 7]),
    }
    title, *rows = str(Table("answers", columns)).splitlines()
    assert max(map(len, rows)) <= LONGEST_LINE + len("What bounds it?") + len("130") + 2 * len("  ")
    start = title.index("answer")
    assert " ".join(row[start : start + LONGEST_LINE].strip() for row in rows[:-1]).split() == SENTENCE.split()
    assert rows[0].endswith("130") and rows[0].startswith("What bounds it?")
    assert all(row.startswith(" " * start) for row in rows[1:-1])
    assert rows[-1].split() == ["Does", "it", "fit?", "yes", "7"]


def test_short_cells_stand_in_one_line_each() -> None:
    table = Table("ops", {"op": Column(["dot", "tanh"]), "bytes": Column([4.0, 1024.0], "B")})
    assert str(table).splitlines() == ["op      bytes", "dot       4 B", "tanh  1.02 kB"]


def test_names_move_nothing_in_a_terminal() -> None:
    """A name scope may hold an escape sequence, which would colour, clear or rename the terminal."""
    said = str(Table("ops", {"scope": Column(["\x1b[31mred\x07", "plain"])}))
    assert said.splitlines() == ["scope", "red\ufffd", "plain"]
