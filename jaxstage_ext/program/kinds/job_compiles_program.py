"""The compile logs of all processes of a job as the panel shows them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from jaxstage_ext.processes import job_compiles_wording as wording
from jaxstage_ext.processes.compile_row_form import CompileDetails
from jaxstage_ext.processes.gathered_compiles import AskProcesses, compile_details
from jaxstage_ext.processes.shown_job_compiles import JobCompiles
from jaxstage_ext.program.kinds.session_view import SessionView
from jaxstage_ext.report.table import Table
from jaxstage_ext.report.text.markup import Html
from jaxstage_ext.report.text.table_forms import html_of, text_of
from jaxstage_ext.report.unavailable import Unavailable


class JobCompilesProgram(SessionView):
    """What all processes of a job have compiled, in a tab of its own.

    Attributes:
      compiles: what is shown, as the processes told it.
    """

    tab = "job_compiles"

    def __init__(
        self, compiles: JobCompiles, newest: Callable[[], JobCompiles] | None = None, ask: AskProcesses | None = None
    ) -> None:
        super().__init__("Compiles of all processes")
        self.compiles, self._newest, self._ask = compiles, newest, ask

    @property
    def said(self) -> Sequence[str]:
        """What is to be said of all processes, the most important first."""
        return self.compiles.said

    @property
    def unanswered(self) -> Mapping[int, str]:
        """Why a process gave no log, by its index."""
        return self.compiles.missing

    @property
    def answered(self) -> list[int]:
        """The indices of the processes that gave a log, rising."""
        return [log["process"] for log in self.compiles.logs]

    @property
    def can_refresh(self) -> bool:
        """Whether the processes can be asked anew."""
        return self._newest is not None

    @property
    def uses_cache(self) -> bool:
        """Whether JAX's persistent cache is in use in any process."""
        return self.compiles.uses_cache

    def by_program(self) -> Table:
        """One row a program of several processes."""
        return self.compiles.by_program()

    def records(self) -> Table:
        """One row a record, eager operations too."""
        return self.compiles.table(eager=True)

    def is_eager(self) -> list[bool]:
        """Of each row of `records`, whether it is of an operation on a process's own devices outside any function."""
        return [row["is_eager"] and len(row["processes"]) < 2 for _, row in self.compiles.listed(eager=True)]

    def refresh(self) -> int:
        """Ask all processes anew; how many records are new."""
        if self._newest is None:
            return 0
        known = {(log["process"], row["number"]) for log in self.compiles.logs for row in log["rows"]}
        self.compiles = self._newest()
        now = {(log["process"], row["number"]) for log in self.compiles.logs for row in log["rows"]}
        return len(now - known)

    def details(self, process: int, number: int) -> CompileDetails:
        """Why a process compiled, and what of: it is asked. Raises Unavailable where it does not answer."""
        if self._ask is None:
            raise Unavailable(wording.SAVED)
        return compile_details(self._ask, process, number)

    def still_text(self) -> str:
        """As text."""
        return text_of(self.compiles.parts)

    def still_html(self) -> Html:
        """As HTML that runs no code."""
        return html_of(self.compiles.parts)
