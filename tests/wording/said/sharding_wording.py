"""Which device holds which slice of a value."""

import numpy as np
from wordings import constants

from jaxstage_ext.analysis.sharding import sharding_wording as wording
from jaxstage_ext.analysis.sharding.device_places import DevicePlace
from jaxstage_ext.analysis.sharding.mesh import Axis, Mesh
from jaxstage_ext.analysis.sharding.sharding_map import ShardingMap
from jaxstage_ext.analysis.sharding.slices import MANUAL, REPLICATED, UNREDUCED, Sharding

MESH = Mesh(("data", "model"), (2, 2))
AXES = ((Axis("data", 2),), ())
HOLDERS = np.arange(4).reshape(2, 1, 2)


def of(kind: str, shape: tuple[int, ...] = (8, 128)) -> ShardingMap:
    return ShardingMap(shape, Sharding((2, 1), HOLDERS, ((kind, 2, (Axis("model", 2),)),), AXES, MESH), "f32", 32)


def wide(shards: int, copies: int) -> ShardingMap:
    holders = np.arange(shards * copies).reshape(shards, copies)
    return ShardingMap((shards,), Sharding((shards,), holders, ((REPLICATED, copies, ()),)), "f32", 32)


SAID = {
    **constants(wording),
    "two shards, each on two devices": wording.describe("x", of(REPLICATED)),
    "two shards on devices of other ids": wording.describe("", of(REPLICATED), [DevicePlace(n + 10) for n in range(4)]),
    "partial sums": wording.describe("x", of(UNREDUCED)),
    "inside shard_map": wording.describe("x", of(MANUAL)),
    "uneven": wording.describe("x", of(REPLICATED, (7, 128))),
    "unknown": wording.describe("x", ShardingMap((8,), Sharding((), np.arange(0), problem="it is opaque"), "f32", 32)),
    "of another rank": wording.describe("x", of(REPLICATED, (8,))),
    "one device": wording.describe("x", ShardingMap((8,), Sharding((1,), np.zeros((1, 1), int)), "f32", 32)),
    "40 slices, each on 20 devices": wording.describe("x", wide(40, 20)).splitlines()[-3:],
    "a part that is all padding": wording.spelled([(4, 4)]),
}
