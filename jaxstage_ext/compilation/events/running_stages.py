"""The stages that run in each thread, one inside another, and the records that later stages may continue."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from types import CodeType

from jaxstage_ext.compilation.records.compile_record import CompileRecord, StageName, StageRun
from jaxstage_ext.core.jax_private import compile_frames
from jaxstage_ext.core.jax_private.compile_frames import EventFrames, local

_MOST_RECENT = 12
_ORDER = {stage: at for at, stage in enumerate(StageName)}


@dataclass(slots=True)
class RunningStage:
    """A stage that runs."""

    timer: int
    frame: int
    """`timer`, `frame`: the ids of what JAX times it with, and of its frame."""
    run: StageRun
    record: CompileRecord
    inner: float = 0.0
    """The seconds of stages inside it."""
    ours: float = 0.0
    """The seconds that the log itself took inside it."""
    before: tuple[int | None, bool, int] | None = None
    """JAX's count of traces at its start, of a trace."""


_Driver = tuple[int, CodeType | None]
"""The id of a frame, which may be that of a former one, and its code, which tells some of those apart."""


@dataclass(slots=True)
class _Recent:
    """A record, and the frame that ran its stages."""

    record: CompileRecord
    driver: _Driver


class RunningStages(threading.local):
    """Those of this thread, the outermost first."""

    def __init__(self) -> None:
        self.running: list[RunningStage] = []
        self._recent: list[_Recent] = []

    def around(self, frames: EventFrames) -> RunningStage | None:
        """The stage that runs around an event; those that were not heard to end are forgotten."""
        if not self.running:
            return None
        live = set()
        frame = frames.stage.f_back if frames.stage is not None else None
        while frame is not None:
            live.add(id(frame))
            frame = frame.f_back
        while self.running and self.running[-1].frame not in live:
            self.running.pop()
        return self.running[-1] if self.running else None

    def close(self, frames: EventFrames, stage: StageName, seconds: float) -> RunningStage | None:
        """The stage that ends, with its seconds; None of one that was not heard to begin."""
        timer = id(frames.timer)
        for at in range(len(self.running) - 1, -1, -1):
            ended = self.running[at]
            if ended.timer == timer and ended.run.stage is stage:
                del self.running[at:]
                ended.run.seconds = max(seconds - ended.ours, 0.0)
                ended.run.own_seconds = max(ended.run.seconds - ended.inner, 0.0)
                if self.running:
                    self.running[-1].inner += ended.run.seconds
                self.spend(ended.ours)
                return ended
        return None

    def spend(self, seconds: float) -> None:
        """The log itself took these seconds inside the stage that runs."""
        if self.running:
            self.running[-1].ours += seconds

    def add(self, record: CompileRecord, frames: EventFrames) -> None:
        """A new record, which later stages may continue."""
        self._recent.append(_Recent(record, _driver(frames)))
        del self._recent[:-_MOST_RECENT]

    def complete(self, record: CompileRecord) -> None:
        """No later stage continues it."""
        self._recent[:] = [recent for recent in self._recent if recent.record is not record]

    def continued(self, frames: EventFrames, stage: StageName, name: str) -> CompileRecord | None:
        """The record of the call that this stage is a later one of."""
        if stage is StageName.TRACE:
            return None
        driver, given = _driver(frames), None
        for recent in reversed(self._recent):
            same_driver = recent.driver == driver
            if not (same_driver or frames.is_ahead_of_time) or not _may_follow(stage, name, recent.record):
                continue
            given = given or _Given(frames)
            if given.is_of(recent.record, stage, same_driver):
                recent.driver = driver
                return recent.record
        return None

    def forget(self) -> None:
        """No stage runs, whatever was not heard to end."""
        self.running.clear()
        self._recent.clear()


def _driver(frames: EventFrames) -> _Driver:
    frame = frames.call or frames.driver
    return id(frame), None if frame is None else frame.f_code


def _may_follow(stage: StageName, name: str, record: CompileRecord) -> bool:
    last = record.stages[-1]
    return record.name == name and not last.failed and last.seconds is not None and _ORDER[stage] > _ORDER[last.stage]


class _Given:
    """What a stage works on. The id of a frame may be that of a former one: this tells their calls apart."""

    def __init__(self, frames: EventFrames) -> None:
        self._frames = frames

    def is_of(self, record: CompileRecord, stage: StageName, same_driver: bool) -> bool:
        """Whether the record's last stage made it, in the same call or ahead of time."""
        kept = record.artefacts
        if stage is StageName.COMPILE and record.stages[-1].stage is StageName.LOWER:
            module = local(self._frames.stage, "computation")
            return module is not None and kept.made_module is not None and kept.made_module() is module
        if kept.made_jaxpr is None:
            return same_driver
        jaxpr = compile_frames.traced(self._frames)
        return same_driver if jaxpr is None else kept.made_jaxpr() is jaxpr


RUNNING = RunningStages()
