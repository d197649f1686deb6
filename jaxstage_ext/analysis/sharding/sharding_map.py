"""A value on its devices: which device holds which slice, its size, and how even the shards are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from jaxstage_ext.analysis.sharding.mesh import BadSharding
from jaxstage_ext.analysis.sharding.slices import REPLICATED, Sharding
from jaxstage_ext.ir.wire.protowire import Longs

TOKEN = "token"
"""The dtype of what orders effects, which holds no data."""


@dataclass(frozen=True, eq=False)
class ShardingMap:
    """A value on its devices."""

    shape: tuple[int, ...]
    sharding: Sharding
    dtype: str = ""
    """Name in HLO or JAX."""
    bits: int | None = None
    """Of one element, None for tokens and keys of unknown width."""

    @property
    def shard_shape(self) -> tuple[int, ...] | None:
        """The shape of the largest shard, which each device allocates; None where the sharding is unknown."""
        if not self.fits:
            return None
        return tuple(-(-size // tiles) for size, tiles in zip(self.shape, self.sharding.tiles, strict=True))

    @property
    def fits(self) -> bool:
        """Whether the sharding is known and applies to values of this rank."""
        return self.sharding.is_known and len(self.sharding.tiles) == len(self.shape)

    @property
    def shard_bytes(self) -> int | None:
        """Bytes per device, without the padding of tiled layouts; None where unknown."""
        shape = self.shard_shape
        return None if shape is None or self.bits is None else (math.prod(shape) * self.bits + 7) // 8

    @property
    def bytes(self) -> int | None:
        return None if self.bits is None else (math.prod(self.shape) * self.bits + 7) // 8

    @property
    def copies(self) -> int | None:
        """The number of devices that hold the same shard; None where unknown."""
        return self.sharding.shared(REPLICATED) if self.sharding.is_known else None

    @property
    def is_uneven(self) -> bool:
        """Whether a dimension is not divisible by its shards, so that some devices hold less, or nothing."""
        return self.fits and any(size % tiles for size, tiles in zip(self.shape, self.sharding.tiles, strict=True))

    @property
    def padding(self) -> float | None:
        """The share of the allocated bytes that holds no data, 0 to 1."""
        shape = self.shard_shape
        if shape is None:
            return None
        held = math.prod(size * tiles for size, tiles in zip(shape, self.sharding.tiles, strict=True))
        return 1 - math.prod(self.shape) / held if held else 0.0

    @cached_property
    def bounds(self) -> Longs:
        """[device, dimension, (start, stop)] of the slice that each device holds, in the order of `numbers`.

        Raises BadSharding where the sharding is unknown or for another rank.
        """
        if self.shard_shape is None:
            raise BadSharding(f"which device holds what is unknown: {self.sharding.spec}")
        order = np.argsort(self.sharding.holders, axis=None, kind="stable")
        place = np.stack(np.unravel_index(order, self.sharding.holders.shape), 1)[:, :-1]
        size, part = np.array(self.shape, np.int64), np.array(self.shard_shape, np.int64)
        return np.stack([np.minimum(place * part, size), np.minimum((place + 1) * part, size)], -1)

    @cached_property
    def numbers(self) -> Longs:
        """The devices that hold a shard, ascending."""
        return np.sort(self.sharding.holders, axis=None)

    def slices(self) -> dict[int, tuple[slice, ...]]:
        """Per device, its slice of the value."""
        return {
            int(number): tuple(slice(int(start), int(stop)) for start, stop in bounds)
            for number, bounds in zip(self.numbers, self.bounds, strict=True)
        }
