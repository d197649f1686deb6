"""Arguments that have the shape and dtype of an array and no values, which JAX compiles for and cannot run on."""

from __future__ import annotations

import jax
import numpy as np

from jaxstage_ext.core.jax_private import refs

_CONVERTING = ("__jax_array__", "__array__", "__cuda_array_interface__")


def is_valueless(leaf: object) -> bool:
    """Whether a leaf is a `jax.ShapeDtypeStruct`, or an object of the user's that stands for one."""
    if isinstance(leaf, jax.ShapeDtypeStruct):
        return True
    if isinstance(leaf, jax.Array | np.ndarray | np.generic | int | float | complex) or refs.is_ref(leaf):
        return False
    try:
        has_type = isinstance(getattr(leaf, "shape", None), tuple) and hasattr(leaf, "dtype")
        return has_type and not any(hasattr(type(leaf), name) for name in _CONVERTING)
    except Exception:  # of code of the user's
        return False
