"""What is done with a damaged entry of the persistent cache before JAX reads it."""

from __future__ import annotations

import enum


class DamagedPolicy(enum.Enum):
    """`%config JAXStage.damaged_cache_entries`."""

    ASK = "ask"
    """Warn, and leave it to the user to set it aside."""
    SET_ASIDE = "set aside"
    """Rename it at once, so that JAX compiles its program and writes it anew."""


class _Chosen:
    def __init__(self) -> None:
        self.policy = DamagedPolicy.ASK


_chosen = _Chosen()


def set_policy(policy: DamagedPolicy) -> None:
    """What is done with damaged entries from now on."""
    _chosen.policy = policy


def policy() -> DamagedPolicy:
    """What is done with damaged entries now."""
    return _chosen.policy
