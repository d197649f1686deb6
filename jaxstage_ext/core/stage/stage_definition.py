"""What there is to say about a stage, in one place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from jaxstage_ext.core.stage.events import Heard
    from jaxstage_ext.core.stage.staged import CacheHit, Stage, Staged
    from jaxstage_ext.ir.hlo.module import Module
    from jaxstage_ext.ir.sources.source import FrameTable
    from jaxstage_ext.report.document import Document


class StagedProgram(Protocol):
    """What a stage's documents and count are read from. The class `Program` has all of it."""

    @property
    def staged(self) -> Staged:
        """The stages, with what each one made."""

    @property
    def frame_table(self) -> FrameTable:
        """The call stacks of all documents, to which a reader adds those of its own."""

    @property
    def documents(self) -> Mapping[str, Document]:
        """The documents of the stages that were reached, by kind."""

    @property
    def jax_traced(self) -> Any:
        """JAX's own `Traced`; None where there is none."""

    @property
    def jax_lowered(self) -> Any:
        """JAX's own `Lowered`; None where there is none."""

    @property
    def executable(self) -> Any:
        """JAX's own `Compiled`, or a worker's `Executable`; None where there is neither."""

    @property
    def has_hlo(self) -> bool:
        """Whether there is an optimised module."""

    @property
    def xla_module(self) -> Any:
        """XLA's own optimised module; None where another process compiled it."""

    @property
    def module(self) -> Module:
        """The optimised module, parsed."""

    def key(self, what: str) -> str | None:
        """The key of something of the optimised module in the inspection cache; None where it cannot be cached."""


DocumentReader: TypeAlias = "Callable[[StagedProgram], Callable[[], Document] | None]"
"""Gives the function that reads a document; None where the stage left nothing to read."""


def no_count(program: StagedProgram) -> Mapping[str, int]:
    """Nothing to count."""
    return {}


def cached_unless_timed(value: Any, event_seconds: float | None, heard: Heard) -> CacheHit | None:
    """A hit in JAX's own caches where JAX recorded no event for the stage."""
    from jaxstage_ext.core.stage.staged import Cache, CacheHit

    return CacheHit(Cache.PROCESS) if event_seconds is None else None


@dataclass(frozen=True)
class StageDefinition:
    """A stage that a call goes through. Its magics are `%name` and `%%name`."""

    name: str
    """As in `inspect(stage=name)`, `Inspection.seconds` and the panel's header."""
    help: str
    """One sentence for the magic's help: how far it goes, and what that shows."""
    run: Callable[[Staged, Stage], Any]
    """Makes the stage's value from those of the stages before it. None means that the function has no such stage. It
    may set `seconds`, `hit` and `key` of its Stage; otherwise they follow from `event` and `cache_hit`."""
    event: str | None = None
    """JAX's monitoring event that times the stage; None where JAX has none, and the wall time counts."""
    cache_hit: Callable[[Any, float | None, Heard], CacheHit | None] = cached_unless_timed
    """From the stage's value, its event's seconds and all events of its run: whether a cache answered."""
    documents: Mapping[str, DocumentReader] = field(default_factory=dict)
    """The kinds of documents that the stage leaves, keys of `KINDS` in `report/document_kinds.py`, and how each one is
    read."""
    count: Callable[[StagedProgram], Mapping[str, int]] = no_count
    """What the stage made, in numbers by singular nouns: {"instr": 583, "fusion": 60}."""
    count_is_cheap: bool = False
    """Whether to count while later stages still run."""
    per_target: bool = True
    """Whether the value depends on the target; otherwise it is computed once for all targets."""
    makes_executable: bool = False
    """Whether XLA compiles in it, so that its magic takes compile options, limits and `--run`."""


TRACE, LOWER, COMPILE = "trace", "lower", "compile"
