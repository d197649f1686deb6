"""A history as a value that shows itself: the panel in a notebook, text in a terminal."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from jaxstage_ext.compilation.history.history import History, history
from jaxstage_ext.compilation.history.history_rows import HistoryRow
from jaxstage_ext.compilation.records.compile_log import LOG, CompileLog
from jaxstage_ext.panel.showing import compiles_display
from jaxstage_ext.views.compiled import compile_forms
from jaxstage_ext.views.compiled.stale_wording import stale_notes


@dataclass(frozen=True, eq=False, repr=False)
class ShownHistory(History):
    """What JAX traced, lowered and compiled in this kernel. In a notebook it shows itself as a panel.

    Attributes:
      title: which part of the log it is, such as "In [12]"; "" for all of it.
      notes: what is to be known about the whole, one sentence each.
      is_unfolded: whether each eager operation has a row of its own.
    """

    title: str = ""
    notes: tuple[str, ...] = ()
    is_unfolded: bool = False

    def rows(self, eager: bool = False) -> list[HistoryRow]:
        """The rows of the table; with `eager`, each eager operation has its own."""
        return super().rows(eager or self.is_unfolded)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        return compiles_display.mimebundle(self, self.title, self.notes, self.is_unfolded)

    def _display_(self) -> Any:
        """What marimo shows: the live panel."""
        return compiles_display.displayed(self, self.title, self.notes, self.is_unfolded)

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write an offline page that shows it; it needs no kernel and no network.

        Raises OSError, naming the path, where that cannot be done.
        """
        compiles_display.write_page(self, path, self.title, self.notes)

    def __repr__(self) -> str:
        return compile_forms.text(self, shutil.get_terminal_size((100, 24)).columns, self.title, self.notes)

    def _repr_html_(self) -> str:
        return compile_forms.html(self, self.title, self.notes)


Shown = TypeVar("Shown", bound=ShownHistory)


def shown_history(kind: type[Shown], log: CompileLog = LOG) -> Shown:
    """All that the log holds at this moment."""
    whole = history(log)
    return kind(whole.records, whole.earlier, whole.dropped, whole._verdicts)


_known_notes: set[str] = set()
"""Notes of stale variables that a cell has shown."""


def with_stale_names(shown: Shown, among: History, clears: int, are_known_short: bool = False) -> Shown:
    """The history with a note for each stale variable of the functions in another one.

    Args:
      shown: the history that is shown.
      among: the one whose functions are looked at.
      clears: how often JAX's caches have been seen cleared.
      are_known_short: whether those that have been shown before share one short line.
    """
    from jaxstage_ext.compilation.records.stale_names import stale_names  # it imports JAX

    notes = stale_notes(stale_names(among, clears), _known_notes if are_known_short else ())
    _known_notes.update(notes)
    return replace(shown, notes=(*shown.notes, *notes))


def forget() -> None:
    """Forget which notes have been shown."""
    _known_notes.clear()
