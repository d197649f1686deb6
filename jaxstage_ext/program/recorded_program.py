"""The timeline of a program, and programs of which nothing but a timeline is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxstage_ext.core import jax_private
from jaxstage_ext.core.call import Call
from jaxstage_ext.core.staged import Staged
from jaxstage_ext.core.targets.target import LOCAL
from jaxstage_ext.core.targets.worker_requests import USUAL
from jaxstage_ext.ir.hlo import hlo_document, whole_module
from jaxstage_ext.ir.hlo import module as hlo
from jaxstage_ext.ir.source import FrameTable
from jaxstage_ext.profiling.busiest_module import busiest_module
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.document import Document
from jaxstage_ext.report.public_paths import public_folders
from jaxstage_ext.report.recording import RecordedModule
from jaxstage_ext.report.unavailable import Unavailable


def timeline(program: Program) -> Timeline:
    """The newest timeline of a program. Raises Unavailable where it was not profiled."""
    if program.timeline is None:
        raise Unavailable(f"{program.name} was not profiled; run %%profile {program.name}(...)")
    return program.timeline


class RecordedProgram(Program):
    """What a profile says of a program that was not staged here: its timeline, and the HLO that the profile holds.

    The HLO document is that of the module that took the most time.
    """

    def __init__(self, timeline: Timeline, cell: str | None = None) -> None:
        call = Call(_NotCallable(), name=timeline.recording.title, cell=cell)
        super().__init__(Staged(call, [], LOCAL, USUAL))
        self.timeline = timeline
        self.frame_table = FrameTable("", self.staged.sources)

    @property
    def stage(self) -> str:
        return ""

    @property
    def recorded_module(self) -> RecordedModule | None:
        """The module whose HLO is shown; None where the profile holds none."""
        recording = self.timeline.recording if self.timeline else None
        number = busiest_module(recording, with_proto=True) if recording else -1
        return recording.modules[number] if recording and number >= 0 else None

    @property
    def has_hlo(self) -> bool:
        return self.recorded_module is not None

    def proto(self) -> bytes:
        module = self.recorded_module
        if module is None or module.proto is None:
            raise Unavailable(f"the profile of {self.name} holds no HLO")
        return self.results.once("proto", module.proto)

    def _parsed(self) -> hlo.Module:
        try:
            return whole_module.read(self.proto())
        except ValueError as e:
            raise Unavailable(f"the HLO in the profile of {self.name} is damaged: {e}") from e

    def _readers(self) -> dict[str, Callable[[], Document]]:
        return {"python": self._read_python, "hlo": self._read_hlo} if self.has_hlo else {}

    def _read_hlo(self) -> Document:
        module = self.module  # XLA's own reader may hang on a damaged module, which this refuses
        text = public_folders(jax_private.hlo_text_of_proto(self.proto()))
        return hlo_document.read(text, module, self.frame_table)


class _NotCallable:
    """Stands for the function of a profile: there is none, and no code of it."""

    def __call__(self) -> Any:
        raise ValueError("a profile has no function to run; profile the call itself with %%profile")
