"""Functions as a cell leaves them, and what an inspection says of the version that JAX runs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxstage_ext import inspect

X = np.arange(1, 5, dtype=np.float32)


def defined(text: str, **names: Any) -> dict[str, Any]:
    """The names that a cell with this text leaves."""
    namespace = {"jax": jax, "jnp": jnp, "np": np, "functools": functools, **names}
    exec(compile(text, f"/home/me/cell_{abs(hash(text))}.py", "exec"), namespace)
    return namespace


def notes(fn: Callable[..., Any], *args: Any) -> list[str]:
    return [note for note in inspect(fn, *args, stage="trace").summary()["notes"] if "JAX" in note]
