"""The kernel's compiles as the panel shows them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from jaxstage_ext.compilation.history.history import History
from jaxstage_ext.compilation.records.compile_record import CompileRecord
from jaxstage_ext.program.kinds.logged_program import logged_program
from jaxstage_ext.program.kinds.session_view import SessionView
from jaxstage_ext.program.program import Program


class CompileHistoryProgram(SessionView):
    """A History of compiles in a tab of its own.

    Attributes:
      history: what is shown, as it was when it was taken.
      scope: what `history.records` are of all records that the log holds, such as "In [12]"; "" where they are all.
      title: which part of the log it is, in the still forms.
      is_unfolded: whether each eager operation has a row of its own at first.
    """

    tab = "compiles"

    def __init__(
        self,
        history: History,
        scope: str = "",
        newest: Callable[[], History] | None = None,
        title: str = "",
        notes: Sequence[str] = (),
        is_unfolded: bool = False,
    ) -> None:
        super().__init__("Compiles of this kernel")
        self.history, self.scope, self.title, self.notes = history, scope, title, tuple(notes)
        self._newest, self.is_unfolded = newest, is_unfolded
        self._opened: dict[int, Program] = {}

    @property
    def records(self) -> tuple[CompileRecord, ...]:
        """All records that the log held, those that are not in scope too."""
        return self.history.earlier or self.history.records

    @property
    def can_refresh(self) -> bool:
        """Whether the history is that of a log that may have grown since."""
        return self._newest is not None

    def open(self, number: int) -> Program:
        """A record as a program of its own, made once. Raises Unavailable where nothing that JAX made of it is kept."""
        if number not in self._opened:
            self._opened[number] = logged_program(next(one for one in self.records if one.number == number))
        return self._opened[number]

    def has_opened(self, number: int) -> bool:
        """Whether that record has been opened, so that what JAX made of it is kept here."""
        return number in self._opened

    def refresh(self) -> int:
        """Take the history anew; how many records are new. None are where it came from elsewhere."""
        if self._newest is None:
            return 0
        last = max((record.number for record in self.records), default=0)
        self.history = self._newest()
        return sum(record.number > last for record in self.records)
