"""`pytest -p jaxstage_ext.testing.history_plugin --jaxstage-history FILE`: figures by commit, and what moved.

It is no entry point: those make pytest rewrite the assertions of the whole package, whoever asks for it or not.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from jaxstage_ext.testing import history_wording as wording
from jaxstage_ext.testing.figures_of_commit import KeptFigures, current_commit, moved, read_history, write_history
from jaxstage_ext.testing.observers import OBSERVERS

if TYPE_CHECKING:
    import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option; without it nothing is kept."""
    parser.getgroup("jaxstage").addoption("--jaxstage-history", metavar="FILE", help=wording.OPTION)


def pytest_configure(config: pytest.Config) -> None:
    """Begin to keep figures where a file is named; of several processes of pytest-xdist each keeps its own tests'."""
    if (file := config.getoption("--jaxstage-history")) is not None:
        config.pluginmanager.register(HistoryKeeper(Path(file), config.rootpath), "jaxstage-history")


class HistoryKeeper:
    """Keeps the figures of each program that a test compiles, and writes them when the session ends."""

    def __init__(self, file: Path, root: Path) -> None:
        self._file, self._commit, self._test = file, current_commit(root), ""
        self._new: list[KeptFigures] = []
        self._said: list[str] = []

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Which test the programs are of."""
        self._test = item.nodeid

    def pytest_sessionstart(self) -> None:
        """Begin to be told of programs."""
        OBSERVERS.append(self._keep)

    def _keep(self, made: Any) -> None:
        from jaxstage_ext.testing.program_figures import program_figures

        program = made.inspection.program
        figures = program_figures(program)
        made_before = sum((one.test, one.target) == (self._test, program.label) for one in self._new)
        call = f"{program.name} {made_before + 1}"  # without types, which an edit changes
        self._new.append(KeptFigures(self._commit, self._test, call, program.label, figures))

    def pytest_sessionfinish(self) -> None:
        """Write what is new, and note what moved."""
        OBSERVERS.remove(self._keep)
        if not self._new:
            return
        every = moved(read_history(self._file), self._new)
        self._said = [
            wording.moved(one.key[0], one.key[2], one.name, one.before, one.after, one.commit) for one in every
        ]
        try:
            write_history(self._file, self._new)
        except OSError as error:
            self._said.append(wording.not_written(str(self._file), str(error)))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what moved."""
        if self._new:
            terminalreporter.section(wording.TITLE)
            terminalreporter.line(wording.kept(len(self._new), self._commit, self._file.name))
            for line in self._said or [wording.nothing_moved()]:
                terminalreporter.line(line)
