"""JAX's transformations, told by the functions that they make."""

from __future__ import annotations

from collections.abc import Iterable

_MADE = {
    "grad_f": "jax.grad",
    "value_and_grad_f": "jax.value_and_grad",
    "vmap_f": "jax.vmap",
    "jacfun": "jax.jacobian",
    "fun_remat": "jax.checkpoint",
    "_shard_map.<locals>.wrapped": "jax.shard_map",
}


def transformation(names: Iterable[str]) -> str:
    """The transformation that made a function of JAX's with one of these names; "jax" where none is known."""
    return next((_MADE[name] for name in names if name in _MADE), "jax")
