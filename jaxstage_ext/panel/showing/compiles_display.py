"""What a notebook shows of a history, and the offline page of one."""

from __future__ import annotations

import functools
import os
import shutil
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from jaxstage_ext.compilation.history.history import History, history
from jaxstage_ext.compilation.records.compile_log import LOG
from jaxstage_ext.panel.showing import display, marimo_display, page
from jaxstage_ext.views.compiled import compile_forms

if TYPE_CHECKING:
    from jaxstage_ext.program.kinds.compile_history_program import CompileHistoryProgram

_UNTITLED = "this selection"


def mimebundle(shown: History, title: str = "", notes: Sequence[str] = (), is_unfolded: bool = False) -> Any:
    """All forms of a history: in a notebook the live panel before HTML that runs no code, and text."""
    if display.in_notebook():
        return display.mimebundle([_program(shown, title, notes, is_unfolded)])
    columns = shutil.get_terminal_size((100, 24)).columns
    return {
        "text/plain": compile_forms.text(shown, columns, title, notes),
        "text/html": compile_forms.html(shown, title, notes),
    }


def displayed(shown: History, title: str, notes: Sequence[str], is_unfolded: bool) -> Any:
    """What marimo shows of a history: the live panel."""
    still = functools.partial(compile_forms.html, shown, title, notes)
    return marimo_display.shown([_program(shown, title, notes, is_unfolded)], still)


def write_page(shown: History, path: str | os.PathLike[str], title: str = "", notes: Sequence[str] = ()) -> None:
    """Write an offline page that shows it. Raises OSError, naming the path, where that cannot be done."""
    page.write([_program(shown, title, notes)], path)


def _program(shown: History, title: str, notes: Sequence[str], is_unfolded: bool = False) -> CompileHistoryProgram:
    from jaxstage_ext.program.kinds.compile_history_program import CompileHistoryProgram  # it imports JAX

    is_whole = not title and len(shown.records) == len(shown.earlier)
    scope = "" if is_whole else title or _UNTITLED
    return CompileHistoryProgram(shown, scope, _newest(shown, is_whole), title, notes, is_unfolded)


def _newest(shown: History, is_whole: bool) -> Callable[[], History] | None:
    """How the same part of the log is read anew; None where the records are not those of the log."""
    if shown.earlier and all(record is not shown.earlier[-1] for record in LOG):
        return None
    kept = {record.number for record in shown.records}
    return history if is_whole else lambda: history().only(lambda record: record.number in kept)
