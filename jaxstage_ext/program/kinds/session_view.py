"""Programs of which there is no call: what one tab of the panel shows of the session itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax

from jaxstage_ext.compilation.persistent.cache_report import CacheReport, cache_report
from jaxstage_ext.core.call import Call
from jaxstage_ext.core.stage.staged import Staged
from jaxstage_ext.core.targets.target import LOCAL
from jaxstage_ext.core.targets.worker_requests import USUAL
from jaxstage_ext.program.head.summary_form import FigureSummary
from jaxstage_ext.program.program import Program


class SessionView(Program):
    """What one tab shows of the session itself, such as its compiles: no call, no stages and no documents."""

    notes: Sequence[str] = ()
    """What is to be known about the whole."""

    @property
    def own_notes(self) -> Sequence[str]:
        return self.notes

    @property
    def own_signature(self) -> str:
        return self.name

    @property
    def own_title(self) -> str:
        """JAX's version alone: a view of the session asks for no device."""
        return f"jax {jax.__version__}"

    def __init__(self, title: str, cell: str | None = None) -> None:
        super().__init__(Staged(Call(_NotCallable(), name=title, cell=cell), [], LOCAL, USUAL))

    def own_figures(self) -> Sequence[FigureSummary]:
        return ()


class _NotCallable:
    """Stands for the function of a program without a call."""

    def __call__(self) -> Any:
        raise ValueError("this is a view of the kernel and has no function to run")


class CompileCacheProgram(SessionView):
    """A report of the persistent cache in a tab of its own.

    Attributes:
      report: what is shown, as it was when it was last read.
    """

    tab = "compile_cache"

    def __init__(self, report: CacheReport) -> None:
        super().__init__("Persistent compilation cache")
        self.report = report

    def refresh(self) -> int:
        """Read the cache anew; how many entries are new."""
        known = {entry.key for entry in self.report.entries}
        self.report = cache_report(self.report.was_verified)
        return sum(entry.key not in known for entry in self.report.entries)
