"""The module as XLA's partitioner gets it, after sharding propagation: asked of the worker."""

from __future__ import annotations

from typing import NamedTuple

from jaxstage_ext.core.recompile import preparation
from jaxstage_ext.core.stage.staged import Staged
from jaxstage_ext.report.progress import Progress


class Propagation(NamedTuple):
    """What a compile as far as the partitioner left.

    Attributes:
      module: a serialised HloModuleProto; None on one device, where nothing is propagated.
      warnings: what the partitioner logged.
    """

    module: bytes | None
    warnings: list[str]


def recompile(staged: Staged, progress: Progress | None = None) -> Propagation:
    """Compile the program once more in the worker, as far as the partitioner.

    Raises:
      Unavailable, TargetError, WorkerDied, jax.errors.JaxRuntimeError: as `Prepared.ask`.
    """
    prepared = preparation.prepared(staged)
    if prepared.devices == 1:
        return Propagation(None, [])
    answer = prepared.recompile("propagation", staged.limits, progress)
    return Propagation(answer["after"], answer["warnings"])
