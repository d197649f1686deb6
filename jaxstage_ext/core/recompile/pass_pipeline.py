"""The passes of a program, and its module as the partitioner gets it: asked of the worker.

The passes are asked once, then kept by the inspection cache.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from jaxstage_ext.core.recompile import preparation
from jaxstage_ext.core.stage import stages
from jaxstage_ext.core.stage.staged import Staged
from jaxstage_ext.core.targets.prepared import Prepared
from jaxstage_ext.ir.passes import pipeline as passes
from jaxstage_ext.ir.passes.versions import POOLS
from jaxstage_ext.report.progress import Progress
from jaxstage_ext.store import entry


def recompile_passes(staged: stages.Staged, progress: Progress | None = None) -> passes.Pipeline:
    """Compile the program once more in the worker, with a dump after each pass.

    `progress` is called with the seconds and the pass that is reached; what it raises ends the compile.

    Raises:
      Unavailable, TargetError, WorkerDied, jax.errors.JaxRuntimeError: as `Prepared.ask`.
    """
    prepared = preparation.prepared(staged)
    key = prepared.key("passes")

    def recompile() -> passes.Pipeline:
        answer = prepared.recompile("passes", staged.limits, progress)
        head, parts = answer["head"], answer["parts"]
        if key is not None and not head["notes"]:
            prepared.store(key, head, *_renamed(parts, prepared.anonymous))
        return passes.pipeline(head, parts)

    pipeline, _ = prepared.once(key, partial(_read, prepared), recompile, staged.limits, progress)
    return pipeline


def _read(prepared: Prepared, head: Mapping[str, Any], parts: list[bytes]) -> passes.Pipeline:
    """The Pipeline that `recompile` made an entry of. Raises for anything else."""
    entry.check_inflated(parts)
    if head["notes"]:
        raise ValueError("passes with notes are not kept")
    return passes.pipeline(head, _renamed(parts, prepared.ours))


def _renamed(parts: Sequence[bytes], rename: Callable[[bytes], bytes]) -> list[bytes]:
    """The parts with a kernel's folder of cells renamed in the pools of lines and of metadata."""
    renamed = list(parts)
    for i, packed in enumerate(parts[:POOLS]):
        text = entry.inflated(packed)
        if (other := rename(text)) is not text:
            renamed[i] = zlib.compress(other)
    return renamed


class Propagation(NamedTuple):
    """What a compile as far as the partitioner left."""

    module: bytes | None
    """A serialised HloModuleProto; None on one device, where nothing is propagated."""
    warnings: list[str]
    """What the partitioner logged."""


def recompile_to_partitioner(staged: Staged, progress: Progress | None = None) -> Propagation:
    """Compile the program once more in the worker, as far as the partitioner.

    Raises:
      Unavailable, TargetError, WorkerDied, jax.errors.JaxRuntimeError: as `Prepared.ask`.
    """
    prepared = preparation.prepared(staged)
    if prepared.devices == 1:
        return Propagation(None, [])
    answer = prepared.recompile("propagation", staged.limits, progress)
    return Propagation(answer["after"], answer["warnings"])
