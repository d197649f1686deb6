"""How long JAX takes to copy arrays of NumPy to a device, as each call does that is given them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from jaxstage_ext.core.own_work import own_work

_MOST = 64_000_000
"""Bytes that are copied; the time of more is by their share."""
_TIMED = 3


def seconds_to_copy(arrays: Sequence[Any], sharding: Any) -> float | None:
    """Seconds to copy these to the devices of a sharding of one device; None where there is nothing to copy."""
    total = sum(int(array.nbytes) for array in arrays)
    taken: list[Any] = []
    for array in sorted(arrays, key=lambda array: int(array.nbytes)):
        if taken and sum(each.nbytes for each in taken) + array.nbytes > _MOST:
            break
        taken.append(array if array.nbytes <= _MOST else array.reshape(-1)[: _MOST // array.itemsize])
    copied = sum(int(array.nbytes) for array in taken)
    if not copied:
        return None
    [device] = sharding.device_set
    return min(_timed(taken, device) for _ in range(_TIMED)) * total / copied


def _timed(arrays: Sequence[np.ndarray[Any, Any]], device: Any) -> float:
    with own_work():
        started = time.perf_counter()
        for array in jax.device_put(list(arrays), device):
            array.block_until_ready()
        return time.perf_counter() - started
