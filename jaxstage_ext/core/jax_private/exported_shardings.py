"""The shardings that a `jax.export.Exported` was exported with."""

from __future__ import annotations

from typing import Any


def argument_shardings(exported: Any) -> list[Any]:
    """The NamedSharding of each argument on a mesh without devices; None where it was left to the compiler."""
    named = getattr(exported, "_in_named_shardings", None)
    return list(named) if named is not None else [None] * len(exported.in_avals)
