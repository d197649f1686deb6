"""Functions as a cell leaves them, and which version of them JAX runs, as an inspection says it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxstage_ext import inspect
from jaxstage_ext.core.staleness.traced_versions import OldVersion
from jaxstage_ext.program.source import version_wording

X = np.arange(1, 5, dtype=np.float32)


def defined(text: str, **names: Any) -> dict[str, Any]:
    """The names that a cell with this text leaves."""
    namespace = {"jax": jax, "jnp": jnp, "np": np, "functools": functools, **names}
    exec(compile(text, f"/home/me/cell_{abs(hash(text))}.py", "exec"), namespace)
    return namespace


def versions(fn: Callable[..., Any], *args: Any) -> list[OldVersion]:
    """The functions of which JAX runs an earlier version. Each has its note, and there is no other."""
    inspection = inspect(fn, *args, stage="trace")
    found = list(inspection.program.old_versions)
    assert inspection.summary()["notes"] == list(map(version_wording.note, found))
    return found
