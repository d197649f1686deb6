"""The buffer assignment of an inspection's program: asked of the worker once, then kept by the inspection cache."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from jaxstage_ext.core import stages
from jaxstage_ext.core.recompile import program
from jaxstage_ext.core.targets.prepared import Prepared
from jaxstage_ext.report.progress import Progress
from jaxstage_ext.store import cache
from jaxstage_ext.worker import pool


@dataclass(frozen=True)
class Assigned:
    """What a compile left of memory.

    Attributes:
      proto: a serialised HloProto.   platform: "cpu", "tpu" or "cuda".
      stats: XLA's memory statistics of the executable; empty where there is none.
      error: XLA's, of a compile that failed when memory was already given out; it did not fit.
    """

    platform: str
    proto: bytes = field(repr=False)
    stats: Mapping[str, int]
    error: str | None = None


def look(staged: stages.Staged, progress: Progress | None = None) -> Assigned:
    """Compile the program once more in the worker, with a dump of its buffer assignment.

    `progress` is told the seconds and the pass that is reached; what it raises ends the look.

    Raises:
      Unavailable, TargetError, worker.WorkerDied, jax.errors.JaxRuntimeError: as `Prepared.ask`.
    """
    prepared = program.prepared(staged)
    key = prepared.key("memory")
    if key and (found := cache.load(key)) is not None:
        head, [proto] = found
        return Assigned(prepared.target.platform, prepared.ours(proto), head["stats"], head["error"])
    answer = prepared.ask("memory", staged.limits, how={"lane": pool.RECOMPILE, "progress": progress})
    _keep(key, prepared, answer)
    return Assigned(prepared.target.platform, **answer)


def _keep(key: str | None, prepared: Prepared, answer: Mapping[str, object]) -> None:
    if key:
        head = {name: answer[name] for name in ("stats", "error")}
        cache.store(key, head, prepared.anonymous(bytes(answer["proto"])))  # type: ignore[call-overload]
