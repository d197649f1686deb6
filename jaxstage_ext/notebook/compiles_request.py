"""One use of `%compiles` or `%%compiles`: which records it shows, or what it expects of a cell."""

from __future__ import annotations

import difflib
import os
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError
from IPython.display import display

from jaxstage_ext.notebook import staging
from jaxstage_ext.notebook.cells.cell import run_cell
from jaxstage_ext.notebook.failures import interrupts_in_one_line, pointing_at
from jaxstage_ext.notebook.line_traceback import traceback_at
from jaxstage_ext.notebook.lines import compiles_line
from jaxstage_ext.notebook.magic_request import MagicRequest
from jaxstage_ext.report.text.units import plural

if TYPE_CHECKING:
    from jaxstage_ext.api.compiles import CompileHistory, CompileWatch
    from jaxstage_ext.api.job_compile_history import JobCompileHistory
    from jaxstage_ext.notebook.cells.call_counts import CallCounts

_MOST_NAMED, _LONGEST_NAME = 8, 60


class CompilesRequest(MagicRequest):
    """A magic's line. Raises UsageError for one that cannot be parsed."""

    async def run_line(self, line: str, local_ns: dict[str, Any] | None, frame: FrameType | None) -> Any:
        """Show the records that the line asks for. Returns them where the line is assigned."""
        compiles_line.check_line(self.asked)
        staging.check_import()
        if self.options.processes:
            return self._show_processes(self.is_assigned(self.placed_on(frame, line)[1]))
        staging.check_jax()
        from jaxstage_ext.compilation.records.compile_log import LOG
        from jaxstage_ext.panel.showing.shown_history import with_stale_names

        whole = _history()
        shown = self._unfolded(self._selected(whole))
        among = whole if self.options.function is None else shown
        is_all = compiles_line.ALL in self.asked.code.split()
        shown = with_stale_names(shown, among, LOG.clears, are_known_short=among is whole and not is_all)
        if self.options.json:
            print(_written(shown, self.options.json))
        elif not self.is_assigned(self.placed_on(frame, line)[1]):
            display(shown)  # type: ignore[no-untyped-call, unused-ignore]
            return None
        return shown if not self.options.json else None

    def _show_processes(self, is_assigned: bool) -> JobCompileHistory | None:
        """Show what all processes of the job have compiled. Returns it where the line is assigned."""
        from jaxstage_ext.api.compiles import compiles
        from jaxstage_ext.notebook.engine_cells import NAME_CELLS, px_labels
        from jaxstage_ext.processes.engines.engine_errors import ProcessesError
        from jaxstage_ext.processes.engines.engine_job import current_job
        from jaxstage_ext.processes.engines.engines_wording import NO_ANSWER

        try:
            with interrupts_in_one_line(NO_ANSWER):
                current_job().tell(NAME_CELLS, px_labels(self.ip))
                made = compiles(processes=True)
        except ProcessesError as error:
            raise UsageError(str(error)) from None
        if self.options.json:
            print(_written(made, self.options.json))
        elif is_assigned:
            return made
        else:
            display(made)  # type: ignore[no-untyped-call, unused-ignore]
        return None

    async def run_cell(self, line: str, cell: str) -> None:
        """Run the cell as it is, then show what it compiled, or fail where that is more than was expected."""
        compiles_line.check_cell(self.asked)
        source, typed, _ = self.placed(line, cell)
        from jaxstage_ext.api import compiles

        with compiles.compile_watch() as watch:
            with self._counting() as counts:
                await run_cell(self.ip, source, self.running_cell.number, typed, cut=False)
            if self.options.expect is None or counts is not None:
                self._show(watch.records, counts)
            failure = self._failure(watch)
        if failure is not None:
            raise failure

    def _counting(self) -> AbstractContextManager[CallCounts | None]:
        if not self.options.count:
            return nullcontext()
        from jaxstage_ext.notebook.cells.call_counts import counted_calls

        return counted_calls()

    def _failure(self, watch: CompileWatch) -> BaseException | None:
        """What to raise where the cell compiled more than was expected."""
        if self.options.expect is None:
            return None
        from jaxstage_ext.api import compiles

        try:
            compiles.check(watch, self.options.expect, self.options.eager)
        except compiles.UnexpectedCompile as error:
            at = self._call_of(error.history)
            return error if at is None else pointing_at(self.ip, error, at)
        return None

    def _call_of(self, history: CompileHistory) -> TracebackType | None:
        """Where the first function was called that was compiled beyond what was expected."""
        from jaxstage_ext.compilation.history.history_rows import line_of

        record = history.records[self.options.expect]
        sites = (record.user_line, record.call_site)
        own = next((site for site in sites if site is not None and site.cell == self.running_cell.number), None)
        site = own or line_of(record)
        return None if site is None else traceback_at(site.file, site.line)

    def _show(self, records: CompileHistory, counts: CallCounts | None) -> None:
        shown = replace(_over(records, self.options.over), title=self.running_cell.label)
        if counts is not None:
            from jaxstage_ext.notebook.cells.call_count_notes import call_notes

            shown = replace(shown, notes=call_notes(counts, records.records, records.earlier))
        display(self._unfolded(shown))  # type: ignore[no-untyped-call, unused-ignore]

    def _selected(self, whole: CompileHistory) -> CompileHistory:
        given = self.options.cell is not None or self.options.function is not None
        if self.options.cell is not None:
            _check_cell(whole, self.options.cell)
            whole = replace(whole.only(cell=self.options.cell), title=f"In [{self.options.cell}]")
        if self.options.function is not None:
            _check_function(whole, self.options.function)
            whole = whole.only(function=self.options.function)
        if not given and self.options.over is None and compiles_line.ALL not in self.asked.code.split():
            whole = newest_cell(whole)
        return _over(whole, self.options.over)

    def _unfolded(self, shown: CompileHistory) -> CompileHistory:
        return replace(shown, is_unfolded=self.options.eager)


def newest_cell(whole: CompileHistory) -> CompileHistory:
    """The newest run of a cell that compiled a function of the user's, or else that compiled at all."""
    from jaxstage_ext.compilation.history.history_rows import is_eager
    from jaxstage_ext.compilation.records.compile_record import Asker

    of_cells = [record for record in reversed(whole.records) if record.cell is not None]
    functions = (record for record in of_cells if record.asker is Asker.USER and not is_eager(record))
    newest = next(functions, of_cells[0] if of_cells else None)
    if newest is None:
        return whole
    chosen = whole.only(lambda record: (record.cell, record.run) == (newest.cell, newest.run))
    return replace(chosen, title=f"In [{newest.cell}]")


def _history() -> CompileHistory:
    from jaxstage_ext.api.compiles import logged
    from jaxstage_ext.compilation.events import listening

    whole = logged()
    if listening.is_on():
        return whole
    return replace(whole, notes=("The compile log is off; %config JAXStage.compile_log = True turns it on.",))


def _over(whole: CompileHistory, seconds: float | None) -> CompileHistory:
    return whole if seconds is None else whole.only(over=seconds)


def _check_cell(whole: CompileHistory, cell: int) -> None:
    cells = sorted({record.cell for record in whole.records if record.cell is not None})
    if cell not in cells:
        some = f"; the newest that did: {_some(map(str, cells[::-1]))}" if cells else ""
        raise UsageError(f"no record of a compile in In [{cell}]{some}")


def _check_function(whole: CompileHistory, name: str) -> None:
    from jaxstage_ext.compilation.history.history_rows import is_eager
    from jaxstage_ext.compilation.records.record_names import function_title

    if not len(whole.only(function=name)):
        names = dict.fromkeys(function_title(record) for record in reversed(whole.records) if not is_eager(record))
        near = difflib.get_close_matches(name, names, n=1)
        hint = f"; did you mean {_some(near)}?" if near else f"; there are {_some(names)}" if names else ""
        raise UsageError(f"no record of a function {name!r}{hint}")


def _some(names: Any) -> str:
    from jaxstage_ext.report.text.terminal import clean, cut

    names = [cut(clean(name), _LONGEST_NAME) for name in names]
    return ", ".join(names[:_MOST_NAMED]) + (", …" if len(names) > _MOST_NAMED else "")


def _written(shown: CompileHistory | JobCompileHistory, file: str) -> str:
    path = Path(os.path.expanduser(file))
    try:
        path.write_text(shown.to_json(), "utf-8", "replace")
    except OSError as error:
        raise UsageError(f"--json {file}: {error.strerror or error}") from None
    except ValueError as error:  # a name that no file can have
        raise UsageError(f"--json {file!r}: {error}") from None
    return f"{plural(len(shown), 'record')} written to {file}"
