"""A call on its way through the stages: how far each one is, what it made and how long it took."""

from __future__ import annotations

import enum
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from jaxstage_ext.core.call import Call
from jaxstage_ext.core.targets.target import Target
from jaxstage_ext.ir.sources.source_texts import SourceTexts

if TYPE_CHECKING:
    from jaxstage_ext.core.executable_sharing import Sharing
    from jaxstage_ext.core.jax_private.jax_options import ConfiguredOptions
    from jaxstage_ext.core.safety.large_program import LargeProgram
    from jaxstage_ext.core.staleness.traced_versions import OldVersion
    from jaxstage_ext.core.targets.worker_requests import Limits
    from jaxstage_ext.worker.compile_environment import CompileEnvironment

WAITING, RUNNING, DONE, FAILED, INTERRUPTED = "waiting", "running", "done", "failed", "interrupted"
NOT_GIVEN = "not given"
"""Of a stage before the one that a given object has."""
GIVEN, NOT_REACHED = "given", "not reached"
"""How a stage is shown that was there before, and one that a failure came before."""


class Cache(enum.Enum):
    """Which cache a stage's result came from."""

    PROCESS = "process"
    """JAX's in-memory caches, or an executable that this kernel compiled before."""
    PERSISTENT = "persistent"
    """JAX's persistent compilation cache."""
    INSPECTION = "inspection"
    """The inspection cache, which holds the results of compile workers."""
    JOB = "job"
    """An executable that a process of the job compiled, which all of them share."""


@dataclass(frozen=True)
class CacheHit:
    """A stage's result that was not computed for this call."""

    cache: Cache
    """Where it came from."""
    first_seconds: float | None = None
    """What computing it took the first time; None where that is unknown."""
    process: int | None = None
    """The index of the other process of the job that computed it; None where that was this one, or none of the job."""


@dataclass
class Stage:
    """One stage's progress."""

    name: str
    state: str = WAITING
    seconds: float | None = None
    """How long it took, by JAX's own event where there is one."""
    hit: CacheHit | None = None
    """The cache that its result came from; None if it was computed for this call."""
    value: Any = None
    """What JAX (or a wrapper such as equinox) returned."""
    error: BaseException | None = None
    key: str | None = None
    """Of what determines the optimised module, in the inspection cache; None where that is not known."""
    began: float | None = None
    """The reading of `time.perf_counter` at its start."""
    wall: float | None = None
    """Seconds that its work took, where more was done around it."""
    old_versions: tuple[OldVersion, ...] = ()
    """Of a trace, the functions that JAX did not trace anew though what they name has changed."""
    is_given: bool = False
    """Whether the value was there before, so that nothing was timed."""
    sharing: Sharing | None = None
    """Of a compile here of a program of several processes, whether they share it."""

    @property
    def elapsed(self) -> float | None:
        """Seconds since it began; None unless it is running."""
        return time.perf_counter() - self.began if self.state == RUNNING and self.began is not None else None


@dataclass
class Staged:
    """A call and its stages for one target; stages after a failed one stay waiting."""

    call: Call
    stages: list[Stage]
    target: Target
    limits: Limits
    label: str = ""
    """What tells it from the others of the call: the target, with several sets of compile options the set too."""
    function: Any = None
    """`stageable` of the call, made when the first stage asks for it."""
    environment: CompileEnvironment | None = None
    """That of the compile stage, which recompiles are made in; None before it."""
    configured: ConfiguredOptions | None = None
    """The compile options of `jax.config` at the compile stage; None before it."""
    received: ConfiguredOptions | None = None
    """Those that XLA was given at the compile that made the executable; None where nobody recorded it."""
    sources: SourceTexts = field(default_factory=SourceTexts)
    """The source files as they were at the trace, which all targets of a call share."""
    large: LargeProgram | None = None
    """Why a worker compiles for the kernel's own devices; None where it does not, or was asked to."""
    dumped: tuple[str, ...] = ()
    """Names of the files that JAX wrote meanwhile, `jax_dump_ir_to`."""

    def stage(self, name: str) -> Stage | None:
        return next((stage for stage in self.stages if stage.name == name), None)

    def shown_state(self, stage: Stage) -> str:
        """The state of one of the stages in the words of the views."""
        if stage.is_given:
            return GIVEN
        return NOT_REACHED if stage.state == WAITING and self.failed is not None else stage.state

    def value(self, name: str) -> Any:
        """What a stage made; None where it was not reached."""
        stage = self.stage(name)
        return stage.value if stage else None

    @property
    def failed(self) -> Stage | None:
        return next((stage for stage in self.stages if stage.error is not None), None)
