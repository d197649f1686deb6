"""Partitioning in a process of the user's own executor, which need not be on this machine."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from jaxstage_ext.core.layout.partitioner import Answer, Partitioner
from jaxstage_ext.ir.partitioning.module_layout import ModuleLayout


@functools.lru_cache(maxsize=2)
def _opened(module: bytes, with_constraints: bool) -> Partitioner:
    return Partitioner(module, with_constraints=with_constraints)


def partition_elsewhere(module: bytes, with_constraints: bool, layouts: Sequence[ModuleLayout]) -> list[Answer]:
    """What each layout makes of StableHLO bytecode; the process keeps a worker of its own for it."""
    return _opened(module, with_constraints).partition(layouts)
