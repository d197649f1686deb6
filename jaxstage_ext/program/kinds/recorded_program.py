"""The timeline of a program, and programs of which nothing but a timeline is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxstage_ext.core.call import Call
from jaxstage_ext.core.jax_private import xla_executables
from jaxstage_ext.core.stage.staged import Staged
from jaxstage_ext.core.targets.target import LOCAL
from jaxstage_ext.core.targets.worker_requests import USUAL
from jaxstage_ext.ir.hlo import hlo_document
from jaxstage_ext.ir.hlo import module as hlo
from jaxstage_ext.ir.hlo.places.cached_places import CachedPlaces
from jaxstage_ext.ir.sources.source import FrameTable
from jaxstage_ext.profiling import recorded_modules
from jaxstage_ext.profiling.op_places import without_places
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.profiling.xplane.module_runs import busiest_module
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.running import measured_wording
from jaxstage_ext.program.source import recorded_lines
from jaxstage_ext.program.source.cached_lines import cached_lines
from jaxstage_ext.program.source.cached_modules import with_cached_modules
from jaxstage_ext.program.source.linked_timeline import linked
from jaxstage_ext.report.document import Document
from jaxstage_ext.report.recording import NONE, LaneKind, Recording
from jaxstage_ext.report.text.public_paths import public_folders
from jaxstage_ext.report.text.shortened import some
from jaxstage_ext.report.text.typed_forms import typed
from jaxstage_ext.report.unavailable import Unavailable


def timeline(program: Program) -> Timeline:
    """The newest timeline of a program. Raises Unavailable where it was not profiled."""
    if program.timeline is None and program.saved_summary is not None:
        raise Unavailable(f"the timeline of {program.name} was not saved; inspect or profile it once more")
    if program.timeline is None:
        raise Unavailable(measured_wording.not_profiled(program.name, program.is_of_file, program.other_target))
    return program.timeline


_ON_HOST = (LaneKind.HOST, LaneKind.PYTHON, LaneKind.STEPS, LaneKind.COUNTER)
_MOST_NAMED = 2


class RecordedProgram(Program):
    """What a profile says of a program that was not staged here: its timeline, and the HLO that the profile holds.

    Attributes:
      is_foreign: whether another process may have written the profile, so that it may be damaged.
      recorded_module: the module that took the most time, whose HLO is shown; None where the profile holds none.
    """

    own_device = "the device of the profile"
    recording: Recording

    def __init__(self, timeline: Timeline, cell: str | None = None, is_foreign: bool = True) -> None:
        call = Call(_NotCallable(), name=timeline.recording.title, cell=cell)
        super().__init__(Staged(call, [], LOCAL, USUAL))
        self.frame_table = FrameTable("", self.staged.sources)
        self.recording, self.is_foreign = timeline.recording, is_foreign
        number = busiest_module(self.recording, with_proto=True)
        if not is_foreign and not len(self.recording.ops):  # the profile holds modules that did not run
            number = NONE
        self.recorded_module = self.recording.modules[number] if number >= 0 else None
        self.timeline = linked(self.recording, self) if self.has_hlo else timeline

    @staticmethod
    def of(recording: Recording, cell: str | None = None) -> RecordedProgram:
        """The program of a recording of this kernel, which nothing is linked to yet."""
        recording = with_cached_modules(recording)
        return RecordedProgram(Timeline(recording, without_places(recording)), cell, is_foreign=False)

    @property
    def platform(self) -> str:
        """What it ran on, "cpu", "gpu" or "tpu", by the names of its devices."""
        groups = {lane.group[:4].upper() for lane in self.recording.lanes if lane.device >= 0}
        return next((name for name in ("gpu", "tpu") if f"{name.upper()} " in groups), "cpu")

    @property
    def own_title(self) -> str:
        """The devices of the profile, as it names them."""
        lanes = self.timeline.recording.lanes if self.timeline else ()
        groups = list(dict.fromkeys(lane.group for lane in lanes if lane.kind not in _ON_HOST))
        return f"profile of {some(groups, _MOST_NAMED)}" if groups else "profile"

    @property
    def own_signature(self) -> str:
        return self.name

    @property
    def has_hlo(self) -> bool:
        return self.recorded_module is not None

    def proto(self) -> bytes:
        module = self.recorded_module
        if module is None or module.proto is None:
            raise Unavailable(f"the profile of {self.name} holds no HLO")
        return self.results.once("proto", module.proto)

    def _parsed(self) -> hlo.Module:
        module = recorded_modules.parsed(self.recorded_module) if self.recorded_module is not None else None
        if module is None:
            raise Unavailable(f"the HLO in the profile of {self.name} is damaged")
        return module

    def _readers(self) -> dict[str, Callable[[], Document]]:
        return {"python": self._read_python, "hlo": self._read_hlo} if self.has_hlo else {}

    def _read_hlo(self) -> Document:
        print_module = text_of_foreign if self.is_foreign else xla_executables.hlo_text_of_proto
        text = public_folders(print_module(self.proto()))
        return hlo_document.read(text, self.module, self.frame_table, cached=cached_lines(self))

    def cached_places(self) -> CachedPlaces | None:
        if self.is_foreign or not self.has_hlo:
            return None
        return recorded_lines.places_of_run(self.module, self.frame_table)


class _NotCallable:
    """Stands for the function of a profile: there is none, and no code of it."""

    def __call__(self) -> Any:
        profile = typed("%%profile", "jaxstage_ext.profile")
        raise ValueError(f"a profile has no function to run; profile the call itself with {profile}")


_TIMEOUT = 60.0


def text_of_foreign(proto: bytes) -> str:
    """The text of a serialised HloModuleProto, by a worker: XLA aborts the process for some that are damaged.

    Raises Unavailable where it cannot be printed, with the reason.
    """
    from jaxstage_ext.worker import pool  # it needs Unix

    try:
        return str(pool.ask("cpu", {"method": "module_text", "proto": proto}, _TIMEOUT))
    except (pool.WorkerDied, pool.RequestFailed) as error:
        why = (str(error).splitlines() or [type(error).__name__])[0]
        raise Unavailable(f"the HLO in the profile cannot be printed, as where it is damaged: {why}") from None
