"""The source pane in a notebook: cells run twice, %autoreload, %run, and a cleared `linecache`."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from magic_shell import Shell, fresh_shell

from jaxstage_ext.ir.sources import source_wording
from jaxstage_ext.ir.sources.source_texts import SourceState

FIRST = "def f(x):\n    return x + 1\n"
SECOND = "# moved\n\n\n\ndef f(x):\n    y = x * 2\n    return y * 3\n"


@pytest.fixture(scope="module")
def shell() -> Iterator[Shell]:
    with fresh_shell() as made:
        yield made


def source_of_operations(shell: Shell) -> set[str]:
    """The text of each line that an equation is linked to, read from the source pane."""
    documents = shell["ins"].documents
    pane, jaxpr = documents["python"], documents["jaxpr"]
    unsure = (SourceState.OTHER_CODE, SourceState.UNAVAILABLE)
    assert not any(source_wording.title("", state).removeprefix("# ") in pane.text for state in unsure)
    rows = [
        row
        for number in range(1, len(jaxpr) + 1)
        if (span := jaxpr.source_of(number)) is not None
        for row in pane.lines_from(span.file, span.line)
    ]
    assert rows
    return {pane.lines[row - 1].strip() for row in rows}


def test_a_cell_that_is_edited_and_run_twice_under_one_number(shell: Shell) -> None:
    for text, lines in ((FIRST, {"return x + 1"}), (SECOND, {"y = x * 2", "return y * 3"}), (FIRST, {"return x + 1"})):
        shell.ip.execution_count = 40
        assert shell.run(text).ok
        assert shell.run("%trace -o ins f(x)").ok
        assert source_of_operations(shell) == lines


def test_a_function_of_an_earlier_cell_keeps_its_text(shell: Shell) -> None:
    shell.run(FIRST)
    shell.run("kept = f")
    shell.run(SECOND)
    shell.run("%trace -o ins kept(x)")
    assert source_of_operations(shell) == {"return x + 1"}


def test_a_cell_is_shown_after_linecache_was_cleared(shell: Shell) -> None:
    shell.run(FIRST)
    shell.run("%trace -q -o ins f(x)")
    linecache.clearcache()
    assert source_of_operations(shell) == {"return x + 1"}


def test_autoreload(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    path = tmp_path / "autoreloaded_model.py"
    path.write_text(FIRST)
    try:
        shell.run("%load_ext autoreload\n%autoreload 2\nimport autoreloaded_model as model")
        shell.run("%trace -o ins model.f(x)")
        assert source_of_operations(shell) == {"return x + 1"}
        path.write_text(SECOND)
        assert shell.run("%trace -o ins model.f(x)").ok
        assert source_of_operations(shell) == {"y = x * 2", "return y * 3"}
    finally:
        shell.run("%autoreload 0")
        sys.modules.pop("autoreloaded_model", None)


def test_run_twice_with_an_edit_between(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    for text, lines in ((FIRST, {"return x + 1"}), (SECOND, {"y = x * 2", "return y * 3"})):
        path.write_text(text)
        shell.run(f"%run -i {path}")
        shell.run("%trace -o ins f(x)")
        assert source_of_operations(shell) == lines
