"""Why a program's layouts cannot be searched, and what to do."""

from __future__ import annotations

from enum import Enum


class NotSearchable(Enum):
    """What keeps a program from being partitioned under other layouts."""

    SHARD_MAP = "shard_map"
    KERNEL = "kernel"
    NOT_LOWERED = "not lowered"
    NO_ARRAYS = "no arrays"


def reason(kind: NotSearchable, what: str = "") -> str:
    """One sentence; `what` names the kernel."""
    return {
        NotSearchable.SHARD_MAP: "it has a shard_map, whose body is written for one mesh and one layout; search the "
        "function without it",
        NotSearchable.KERNEL: f"it calls its own kernel {what}, which JAX does not partition outside a shard_map; "
        "search the function with plain operations in its place",
        NotSearchable.NOT_LOWERED: "there is no StableHLO of it to partition: inspect the function, not an executable",
        NotSearchable.NO_ARRAYS: "it uses no argument with a dimension of two or more, so there is nothing to split",
    }[kind]
