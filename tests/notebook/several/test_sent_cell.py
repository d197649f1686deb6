"""A cell in an engine: its lines are those of the notebook's cell, of `%%px` cells too; and what an engine keeps."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from magic_shell import Shell, fresh_shell
from staged_cells import sent_cell

from jaxstage_ext import Inspection
from jaxstage_ext.ir.sources import run_cells
from jaxstage_ext.notebook.several import staged_in_engine
from jaxstage_ext.notebook.several.sent_cell import SentCell

CELL = "%%lower --processes\ndef outer(x):\n    return inner(x) * 2\nouter(x)"


@pytest.fixture(scope="module")
def shell() -> Iterator[Shell]:
    with fresh_shell() as shell:
        yield shell
    run_cells.forget()


def staged(sent: SentCell, handle: str = "one") -> Inspection:
    told = staged_in_engine.stage_cell(sent.to_dict(), handle)
    assert told["error"] is None, told["error"]
    report = staged_in_engine.report(handle, 0, True, False)
    assert report is not None
    return Inspection.from_json(report["json"])


def test_lines_have_the_numbers_of_the_notebook(shell: Shell) -> None:
    assert shell.run("def inner(x):\n    return jnp.sin(x)").ok
    file = os.path.basename(shell["inner"].__code__.co_filename)
    cell = sent_cell(CELL, 41)
    made = staged(SentCell(**{**cell.to_dict(), "labels": {file: "In [17] below %%px"}}))
    jaxpr = made.documents["jaxpr"]
    texts = [(row, text.split(" = ")[-1].split()[0]) for row, text in enumerate(jaxpr.lines, 1) if " = " in text]
    spans = {name: jaxpr.source_of(row) for row, name in texts}
    assert [(spans[name].label, spans[name].line) for name in ("sin", "mul")] == [  # type: ignore[union-attr]
        ("In [17] below %%px", 2),
        ("In [41]", 3),
    ]


def test_an_engine_keeps_its_last_cells_only(shell: Shell) -> None:
    sent = sent_cell("%%trace --processes\njnp.sin(x)", 3)
    for number in range(staged_in_engine.MOST_KEPT + 1):
        staged(sent, f"handle {number}")
    assert staged_in_engine.report("handle 0", 0, True, False) is None
    assert staged_in_engine.report("handle 1", 0, True, False) is not None
    assert staged_in_engine.answer("handle 0", 0, "local", "ledger", {}) is None
    assert staged_in_engine.report("handle 1", 1, True, False) is None
