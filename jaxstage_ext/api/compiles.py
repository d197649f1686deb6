"""The compile log: what JAX compiled in this process and why, and a check that it compiles no more than expected."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, overload

from jaxstage_ext.compilation.causes.cause import Cause
from jaxstage_ext.compilation.events import listening
from jaxstage_ext.compilation.events.listening import listening_block
from jaxstage_ext.compilation.history.history import History
from jaxstage_ext.compilation.history.history_rows import HistoryRow, is_eager
from jaxstage_ext.compilation.records.compile_log import LOG
from jaxstage_ext.compilation.records.compile_record import Asker, CompileRecord, StageName
from jaxstage_ext.compilation.records.record_names import function_title
from jaxstage_ext.compilation.records.signature_text import signature_text
from jaxstage_ext.panel.showing.shown_history import ShownHistory, shown_history, with_stale_names
from jaxstage_ext.report.deliberate_error import DeliberateError
from jaxstage_ext.report.text.units import plural
from jaxstage_ext.views.compiled.compile_comparison import ComparedCompiles
from jaxstage_ext.views.compiled.compile_lines import CompileLine, compile_line

if TYPE_CHECKING:
    from jaxstage_ext.api.inspection import Inspection
    from jaxstage_ext.api.job_compile_history import JobCompileHistory
    from jaxstage_ext.panel.showing.shown_cache_report import ShownCacheReport
    from jaxstage_ext.program.kinds.logged_program import LoggedProgram

_MOST_EXPLAINED = 10


@dataclass(frozen=True, eq=False, repr=False)
class CompileHistory(ShownHistory):
    """What JAX traced, lowered and compiled in this process, whose lines can be opened and compared."""

    def inspect(self, number: int) -> Inspection:
        """What JAX made at the compile of that number, as an Inspection. Nothing is compiled.

        Memory over time, passes and machine code take a recompile, so they raise `ValueError` here.

        Raises:
          KeyError: where the history has no such number.
          ValueError: where the log does not keep any more what JAX made; it does for the newest compiles.
        """
        from jaxstage_ext.api.inspection import Inspection

        return Inspection(self._opened(self._record(number)))

    def compare(self, number: int, other: int) -> ComparedCompiles:
        """Two compiles side by side: why they differ, and the lines in which their jaxpr, StableHLO and HLO do.

        Raises as `inspect`.
        """
        from jaxstage_ext.program.comparing.program_difference import program_difference

        before, after = sorted((self._record(number), self._record(other)), key=lambda record: record.number)
        documents, unknown = program_difference(self._opened(before), self._opened(after))
        why = self.why(after) if self.verdict(after).nearest == before.number else ""
        return ComparedCompiles(_titled(before), _titled(after), why, documents, unknown)

    def _opened(self, record: CompileRecord) -> LoggedProgram:
        from jaxstage_ext.program.kinds.logged_program import logged_program

        return logged_program(record)

    def _record(self, number: int) -> CompileRecord:
        known = self.earlier or self.records
        for record in known:
            if record.number == number:
                return record
        held = f"it holds #{known[0].number} to #{known[-1].number}" if known else "it is empty"
        raise KeyError(f"the compile log has no #{number!r:.20}; {held}")


def _titled(record: CompileRecord) -> str:
    return f"#{record.number} {function_title(record)}({signature_text(record)})"


@overload
def compiles(*, processes: Literal[False] = False) -> CompileHistory: ...


@overload
def compiles(*, processes: Literal[True]) -> JobCompileHistory: ...


def compiles(*, processes: bool = False) -> CompileHistory | JobCompileHistory:
    """What JAX traced, lowered and compiled in this process since the compile log is kept, and why.

    The log is kept from `%load_ext jaxstage_ext` on; without the extension, from the first call of this function on.

    Args:
      processes: whether to ask all processes of the job that `%processes` started or uses instead, which shows what
        each compiled and when, where their order differs, who waited for whom, and why their cache keys differ. Those
        that are busy are waited for 5 seconds; where they are is said instead.

    Returns:
      A history. It shows itself as a panel in a notebook and as text in a terminal. `.table()`, `.by_function()`,
      `.by_cell()` and `.to_pandas()` are its tables, `.recompiles()` and `.only(function="step", cell=12, over=1.0)`
      select from it, `.totals` has its seconds, and `.to_json()` saves it. `.inspect(12)` opens a line, and
      `.compare(12, 14)` shows two side by side; neither compiles. With `processes`, a JobCompileHistory: `.table()`,
      `.by_program()`, `.order_difference`, `.cache_uses`, `.to_pandas()`, `.to_json()`.

    Raises:
      NoJob: with `processes`, where there is no job of this kernel's.
    """
    if processes:
        from jaxstage_ext.api.job_compile_history import job_compile_history  # it imports JAX

        return job_compile_history()
    listening.start()
    whole = logged()
    return with_stale_names(whole, whole, LOG.clears)


def logged() -> CompileHistory:
    """What the log holds at this moment, whether or not it is kept."""
    return shown_history(CompileHistory)


def compile_cache(*, verify: bool = False, set_aside: bool = False) -> ShownCacheReport:
    """What JAX's persistent compilation cache holds, and what it did for this process.

    Args:
      verify: whether to read every entry and compare it with the checksum that was taken when it was written.
      set_aside: whether to rename the damaged entries, so that JAX compiles their programs and writes them anew.

    Returns:
      A report that shows itself as HTML in a notebook and as text in a terminal. `.table()` and `.to_pandas()` have one
      row an entry; `.state` has the folder in use, `.tally` what the cache did for the compiles of this process.

    Raises:
      OSError: where a damaged entry cannot be renamed.
    """
    from jaxstage_ext.panel.showing.shown_cache_report import shown_cache_report  # it imports JAX

    listening.start()
    return shown_cache_report(verify, set_aside)


class UnexpectedCompile(DeliberateError, AssertionError):
    """JAX compiled more than was expected; the message says what, where, why, and what to do.

    Attributes:
      history: the compiles of the block.
    """

    def __init__(self, message: str, history: CompileHistory) -> None:
        super().__init__(message)
        self.history = history


class CompileWatch:
    """What JAX has traced, lowered and compiled since a block began.

    Attributes:
      number: the last record before the block.   was_on: whether the compile log was kept before it.
    """

    def __init__(self, was_on: bool) -> None:
        self.number, self.was_on = LOG.newest, was_on

    @property
    def records(self) -> CompileHistory:
        """All records of the block, JAXStage's own too."""
        return logged().only(lambda record: record.number > self.number)

    def compiles(self, eager: bool = False) -> CompileHistory:
        """The user's compiles; with `eager`, those of eager operations too."""
        return self.records.only(lambda record: _is_compile(record) and (eager or not is_eager(record)))


def _is_compile(record: CompileRecord) -> bool:
    return record.asker is Asker.USER and record.stage(StageName.COMPILE) is not None


@contextmanager
def compile_watch() -> Iterator[CompileWatch]:
    """Record what JAX compiles in a block, whether or not the compile log is kept otherwise."""
    with listening_block() as was_on:
        yield CompileWatch(was_on)


@contextmanager
def expect_compiles(at_most: int = 0, *, eager: bool = False) -> Iterator[CompileWatch]:
    """Check that JAX compiles no more than expected while a block, or a decorated function, runs.

        step(x)  # compiles
        with jaxstage_ext.expect_compiles(at_most=0):
            step(x)

    It needs neither the extension nor a notebook, so it works in tests. Compiles of all threads count, also those that
    JAX's persistent cache served; what only traces or lowers, such as `jax.eval_shape`, does not. An exception of the
    block is raised as it is. Blocks can be nested; each counts its own compiles and those of the blocks inside it.

    To learn what differs from an earlier compile, JAXStage must have recorded that one too: call
    `jaxstage_ext.compiles()` first, in a test suite in `conftest.py`, or compile inside another such block.

    Args:
      at_most: the number of compiles that are allowed.
      eager: whether programs of operations outside any jitted function, such as `jnp.ones(3)`, count.

    Yields:
      An object whose `records` are a history of the block so far.

    Raises:
      UnexpectedCompile: an AssertionError that names each compile with its line, why it happened and what avoids it.
      ValueError: where `at_most` is not a whole number from 0 on.
    """
    if isinstance(at_most, bool) or not isinstance(at_most, int) or at_most < 0:
        raise ValueError(f"at_most is a number of compiles, 0 or more, not {at_most!r}")
    with compile_watch() as watch:
        yield watch
        check(watch, at_most, eager)


def check(watch: CompileWatch, at_most: int, eager: bool = False) -> None:
    """Raise UnexpectedCompile where a block had more compiles than that."""
    history = watch.compiles(eager)
    if len(history) > at_most:
        raise UnexpectedCompile("\n".join(_explanation(history, at_most, watch.was_on)), history)


def _explanation(history: History, at_most: int, was_on: bool) -> Iterator[str]:
    yield f"{plural(len(history), 'compile')}, expected at most {at_most}"
    for record in history.records[:_MOST_EXPLAINED]:
        line = compile_line(history, HistoryRow((record,)))
        yield f"  {line.function}({line.signature}){_where(line)}, {line.seconds}: {line.why}"
        yield from (f"    {text}" for text in _remedy(line, history.verdict(record).cause, was_on))
    if len(history) > _MOST_EXPLAINED:
        yield f"  and {plural(len(history) - _MOST_EXPLAINED, 'more compile')}; the error's .history has them all"


def _where(line: CompileLine) -> str:
    return f" at {line.line}" if line.line else ""


def _remedy(line: CompileLine, cause: Cause, was_on: bool) -> Iterator[str]:
    if line.advice:
        yield f"→ {line.advice}"
        yield from (f"    {code}" for code in line.code)
    elif cause is Cause.FIRST:
        yield "→ Call it once before the block if its first compile is expected."
        if not was_on:
            yield "→ If it was compiled before, call jaxstage_ext.compiles() first of all: it starts the log."
