"""Quiet lines below a cell: that it compiled a function again for an avoidable reason, and what was found in it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from IPython.display import display

from jaxstage_ext.compilation.records.compile_log import LOG
from jaxstage_ext.notebook.settings import JAXStage

if TYPE_CHECKING:
    from jaxstage_ext.compilation.records.compile_record import CompileRecord

LEAST_SECONDS = 1.0
_MOST_RECORDS = 2000
"""Records of a cell that are looked at, the newest."""


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
    """The line for a cell's records; "" where none recompiled for more than a second in a way that can be avoided."""
    from jaxstage_ext.compilation.records.compile_record import Asker

    users = [record for record in records[-_MOST_RECORDS:] if record.asker is Asker.USER]
    if sum(record.own_seconds for record in users) <= LEAST_SECONDS:
        return ""
    from jaxstage_ext.compilation.causes.precedents import function_key
    from jaxstage_ext.compilation.history.history import history
    from jaxstage_ext.compilation.records.record_names import unique_title
    from jaxstage_ext.compilation.records.record_outcome import recompiles_text
    from jaxstage_ext.report.text.terminal import clean, cut
    from jaxstage_ext.report.text.units import duration

    whole = history()
    by_function: dict[tuple[object, ...], list[CompileRecord]] = {}
    for record in users:
        if whole.is_recompile(record) and whole.verdict(record).can_be_mended:
            by_function.setdefault((function_key(record), whole.verdict(record).cause_and_part), []).append(record)
    worst = max(by_function.values(), key=_seconds, default=[])
    if _seconds(worst) <= LEAST_SECONDS:
        return ""
    why, own = whole.why(worst[-1]).rstrip("."), function_key(worst[-1])
    every = sum(whole.is_recompile(record) and function_key(record) == own for record in users)
    of_all = f" (of {every:,})" if every > len(worst) else ""
    took = f"{recompiles_text(worst)}{of_all}, {duration(_seconds(worst))}"
    return f"{clean(unique_title(worst[-1]))} {took}: {cut(clean(why), 200)}. %compiles"


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
