"""What there is to say about a stage, in one place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from jaxstage_ext.core.events import Heard
from jaxstage_ext.core.staged import Cache, CacheHit, Stage, Staged


def cached_unless_timed(value: Any, event_seconds: float | None, heard: Heard) -> CacheHit | None:
    """A hit in JAX's own caches where JAX recorded no event for the stage."""
    return CacheHit(Cache.PROCESS) if event_seconds is None else None


@dataclass(frozen=True)
class StageDefinition:
    """A stage that a call goes through. Its magics are `%name` and `%%name`.

    Attributes:
      name: as in `inspect(stage=name)`, `Inspection.seconds` and the panel's header.
      help: one sentence for the magic's help: how far it goes, and what that shows.
      run: makes the stage's value from those of the stages before it. None means that the function has no such stage.
        It may set `seconds`, `hit` and `key` of its Stage; otherwise they follow from `event` and `cache_hit`.
      event: JAX's monitoring event that times the stage; None where JAX has none, and the wall time counts.
      cache_hit: from the stage's value, its event's seconds and all events of its run: whether a cache answered.
      per_target: whether the value depends on the target; otherwise it is computed once for all targets.
      makes_executable: whether XLA compiles in it, so that its magic takes compile options, limits and `--run`.
    """

    name: str
    help: str
    run: Callable[[Staged, Stage], Any]
    event: str | None = None
    cache_hit: Callable[[Any, float | None, Heard], CacheHit | None] = cached_unless_timed
    per_target: bool = True
    makes_executable: bool = False
