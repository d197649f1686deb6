"""The bytes of one device's part of an array."""

from __future__ import annotations

import math
from collections.abc import Mapping

from jaxstage_ext.worker.inside.partitioning import sharding_specs
from jaxstage_ext.worker.inside.partitioning.sharding_specs import Spec


def local_bytes(shape: tuple[int, ...], bits: int, spec: Spec, mesh: Mapping[str, int]) -> int:
    """Bytes of an array on one device, rounded up where an axis does not divide a dimension."""
    count = 1
    for at, size in enumerate(shape):
        names = spec[at] if at < len(spec) else ()
        parts = math.prod(sharding_specs.axis_size(name, mesh) for name in names)
        count *= -(-size // parts)
    return (count * bits + 7) // 8
