"""The schedule that XLA predicted of a program for a GPU: that of its compile, else asked of the worker once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from jaxstage_ext.core.recompile import preparation
from jaxstage_ext.core.stage import stages
from jaxstage_ext.core.targets import cross_compile
from jaxstage_ext.ir.schedules import written_schedule
from jaxstage_ext.report.progress import Progress
from jaxstage_ext.report.unavailable import Unavailable
from jaxstage_ext.store import cache, entry

_WITHOUT_TABLES = ("interpolator unavailable", "falling back to T-shirt sizes")


@dataclass(frozen=True)
class DumpedSchedule:
    """What the worker found of XLA's schedule.

    Attributes:
      proto: a serialised ScheduleProto, cut to what says which instruction runs when; None where XLA wrote none, or too
        much.
      size: bytes of what XLA wrote; 0 where it wrote nothing.    log: what XLA logged about how it estimates.
      is_of_shown: whether it is of the module that is shown; XLA need not make the same one each time.
    """

    proto: bytes | None = field(repr=False)
    size: int
    log: str
    is_of_shown: bool = True

    @property
    def lacks_tables(self) -> bool:
        """Whether XLA logged that it has no measured tables for the device."""
        return any(words in self.log for words in _WITHOUT_TABLES)


def dumped(staged: stages.Staged, large_constants: bool, progress: Progress | None = None) -> DumpedSchedule:
    """The schedule that came with the program's compile for a GPU that is not here; else it is compiled once more.

    `progress` is called with the seconds and the pass that is reached; what it raises ends the compile.

    Raises:
      Unavailable, TargetError, WorkerDied, jax.errors.JaxRuntimeError: as `Prepared.ask`.
    """
    executable = preparation.worker_executable(staged)
    if executable is None or executable.text is None:
        raise Unavailable("the program was not compiled in a worker, which alone asks XLA for its schedule")
    if executable.schedule is not None:
        return _of_answer(executable.schedule)
    prepared = preparation.prepared(staged)
    digest = cross_compile.digest(executable.text)

    def recompile() -> DumpedSchedule:
        how = {"wanted": digest, "large_constants": large_constants}
        answer = prepared.recompile("schedule", staged.limits, progress, **how)
        if answer["same"]:
            cross_compile.keep_schedule(prepared, answer, executable.text)
        return _of_answer(answer, bool(answer["same"]))

    made, _ = prepared.once(prepared.key("schedule"), partial(_read, digest), recompile, staged.limits, progress)
    return made


def is_at_hand(staged: stages.Staged) -> bool:
    """Whether the schedule came with the program's compile, and is kept, so that nothing is compiled for it."""
    executable = preparation.worker_executable(staged)
    if executable is None or executable.text is None:
        return False
    return executable.schedule is not None or cache.get(preparation.prepared(staged).key("schedule") or "") is not None


def _of_answer(answer: Mapping[str, Any], same: bool = True) -> DumpedSchedule:
    packed = answer["schedule"]
    return DumpedSchedule(None if packed is None else entry.inflated(packed), answer["bytes"], answer["log"], same)


def _read(digest: str, head: Mapping[str, Any], parts: list[bytes]) -> DumpedSchedule:
    """What `keep_schedule` made an entry of. Raises for anything else, and for another module's."""
    [packed], size, log = parts, head["bytes"], head["log"]
    if head.keys() != {"bytes", "log", "absent", "module"} or head["module"] != digest:
        raise ValueError("not the head of this module's schedule")
    if type(size) is not int or size < 0 or not isinstance(log, str) or head["absent"] is not (not packed):
        raise ValueError("not the head of a schedule")
    made = _of_answer({"schedule": packed or None, "bytes": size, "log": log})
    if made.proto is not None:
        written_schedule.read(made.proto)
    return made
