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


ONE, TWO, IN_TURN = ([DevicePlace(n, at) for n, at in enumerate(of)] for of in ([1] * 4, [0, 0, 1, 1], [0, 1, 1, 0]))
UNEQUAL = [DevicePlace(n, at) for n, at in enumerate([0, 1, 1, 1])]
BOTH = Sharding((2, 2), np.arange(4).reshape(2, 2, 1), (), None, None)
DIAGONAL = ShardingMap((8, 128), BOTH, "f32", 32)
FIVE = [DevicePlace(0, process) for process in range(5) for _ in range(process + 1)]

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
    "two processes": wording.describe("x", of(REPLICATED), TWO),
    "two processes, other shapes": wording.per_process(of(REPLICATED), UNEQUAL),
    "two processes, in pieces": wording.per_process(DIAGONAL, IN_TURN),
    "five shapes": wording.per_process(wide(15, 1), FIVE),
    "held by this process": wording.held_by(of(REPLICATED), TWO, 1),
    "held by this process, in pieces": wording.held_by(DIAGONAL, IN_TURN, 1),
    "held by others": wording.held_by(of(REPLICATED), TWO, 2),
    "held by one other": wording.held_by(of(REPLICATED), ONE, 0),
    "devices of another process": wording.of_another(ONE),
    "a part that is all padding": wording.spelled([(4, 4)]),
}
