"""Quiet lines below a cell: that it compiled a function again for an avoidable reason, and what was found in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from IPython.display import display

from jaxstage_ext.compilation.records.compile_log import LOG
from jaxstage_ext.notebook.settings import JAXStage

if TYPE_CHECKING:
    from jaxstage_ext.compilation.history.history import History
    from jaxstage_ext.compilation.records.compile_record import CompileRecord

LEAST_SECONDS = 1.0
_MOST_RECORDS = 2000
"""Records of a cell that are looked at, the newest."""
_MOST_FUNCTIONS, _MOST_CAUSES, _LONGEST_CAUSE = 3, 4, 200


class CompileNotice:
    """Follows IPython's events. A cell that runs inside another (by `%%capture`) belongs to the outer one."""

    def __init__(self) -> None:
        self._depth = 0
        self._is_withheld = False
        self._before = LOG.newest

    def before(self, info: Any) -> None:
        self._depth += 1
        if self._depth == 1:
            self._before, self._is_withheld = LOG.newest, False

    def withhold(self) -> None:
        """The running cell shows its compiles itself."""
        self._is_withheld = True

    def after(self, result: Any) -> None:
        self._depth = max(0, self._depth - 1)
        if self._depth or LOG.newest == self._before or self._is_withheld:
            return
        wanted = [line for line, name in _LINES.items() if getattr(JAXStage.instance(), name)]
        records = [record for record in LOG if record.number > self._before] if wanted else []
        for line in wanted:
            with suppress(Exception):
                if said := line(records):
                    display(_bundle(said), raw=True)  # type: ignore[no-untyped-call, unused-ignore]


def notice(records: Sequence[CompileRecord]) -> str:
    """The line for a cell's records, with each cause; "" where what can be avoided took no more than a second."""
    from jaxstage_ext.compilation.records.compile_record import Asker

    users = [record for record in records[-_MOST_RECORDS:] if record.asker is Asker.USER]
    if sum(record.own_seconds for record in users) <= LEAST_SECONDS:
        return ""
    from jaxstage_ext.compilation.causes.precedents import function_key
    from jaxstage_ext.compilation.history.history import history
    from jaxstage_ext.report.text.units import plural

    whole = history()
    functions: dict[object, dict[object, list[CompileRecord]]] = {}
    for record in users:
        if whole.is_recompile(record) and whole.verdict(record).can_be_mended:
            causes = functions.setdefault(function_key(record), {})
            causes.setdefault(whole.verdict(record).cause_and_part, []).append(record)
    avoidable = sorted((_longest_first(causes.values()) for causes in functions.values()), key=_seconds_of_all)[::-1]
    if sum(map(_seconds_of_all, avoidable)) <= LEAST_SECONDS:
        return ""
    said = [_of_function(whole, causes, users) for causes in avoidable[:_MOST_FUNCTIONS]]
    if len(avoidable) > _MOST_FUNCTIONS:
        said.append(plural(len(avoidable) - _MOST_FUNCTIONS, "more function"))
    return f"{' · '.join(said)}. %compiles"


def _of_function(whole: History, causes: list[list[CompileRecord]], users: Sequence[CompileRecord]) -> str:
    """What is said of one function: its recompiles of all causes, and each cause, with its time if there are more."""
    from jaxstage_ext.compilation.causes.precedents import function_key
    from jaxstage_ext.compilation.records.record_names import unique_title
    from jaxstage_ext.compilation.records.record_outcome import recompiles_text
    from jaxstage_ext.report.text.terminal import clean, cut
    from jaxstage_ext.report.text.units import duration, plural

    every = [record for cause in causes for record in cause]
    own = function_key(every[0])
    recompiles = sum(whole.is_recompile(record) and function_key(record) == own for record in users)
    of_all = f" (of {recompiles:,})" if recompiles > len(every) else ""
    why = [cut(clean(whole.why(cause[-1]).rstrip(".")), _LONGEST_CAUSE) for cause in causes[:_MOST_CAUSES]]
    if len(causes) > 1:
        times = [(f"{len(cause):,} times, " if len(cause) > 1 else "") + duration(_seconds(cause)) for cause in causes]
        why = [f"{each} ({time})" for each, time in zip(why, times, strict=False)]
    if len(causes) > _MOST_CAUSES:
        why.append(plural(len(causes) - _MOST_CAUSES, "more cause"))
    took = f"{recompiles_text(every)}{of_all}, {duration(_seconds(every))}"
    return f"{clean(unique_title(causes[0][-1]))} {took}: {'; '.join(why)}"


def _longest_first(causes: Iterable[list[CompileRecord]]) -> list[list[CompileRecord]]:
    return sorted(causes, key=_seconds, reverse=True)


def _seconds_of_all(causes: Sequence[Sequence[CompileRecord]]) -> float:
    return sum(map(_seconds, causes))


def _seconds(records: Sequence[CompileRecord]) -> float:
    return sum(record.own_seconds for record in records)


_MOST_OPENED = 3


def finding_notice(records: Sequence[CompileRecord]) -> str:
    """The finding with the most to gain of the cell's slowest compiles; "" where nothing was found in them."""
    from jaxstage_ext.compilation.records.compile_record import Asker
    from jaxstage_ext.compilation.records.record_names import unique_title
    from jaxstage_ext.findings.found import said_first
    from jaxstage_ext.program.kinds import logged_program
    from jaxstage_ext.report.text.terminal import clean, cut

    users = [record for record in records[-_MOST_RECORDS:] if record.asker is Asker.USER]
    slowest = sorted(users, key=lambda record: -record.own_seconds)[:_MOST_OPENED]
    for record in slowest:
        if logged_program.why_not_opened(record):
            continue
        if said := said_first(logged_program.logged_program(record)):
            return f"{clean(unique_title(record))}: {cut(clean(said), 400)} %findings"
    return ""


_LINES = {notice: "compile_notice", finding_notice: "finding_notice"}
"""What may be said below a cell, and the setting that asks for it."""


def _bundle(said: str) -> dict[str, str]:
    from jaxstage_ext.report.text import markup

    return {"text/plain": said, "text/html": markup.paragraph(markup.dim(said, most=4000))}
