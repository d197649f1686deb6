"""The sharding of what a line computes, in a few characters and in words."""

from __future__ import annotations

import math
from collections.abc import Sequence

from jaxstage_ext.analysis.margin import line_values
from jaxstage_ext.analysis.margin.line_values import Mark
from jaxstage_ext.analysis.sharding import sharding_wording as wording
from jaxstage_ext.analysis.sharding.propagation import Chooser
from jaxstage_ext.analysis.sharding.sharded_values import ShardedValue
from jaxstage_ext.analysis.sharding.slices import MANUAL, UNREDUCED, Sharding

NOBODY, SEVERAL = "nobody", "several"
"""Kinds of marks beside those named after who chose the sharding."""
_CHOSEN = {
    Chooser.YOU: "chosen by you",
    Chooser.COMPILER: "chosen by the compiler",
    Chooser.JAX: "chosen by JAX, from the types of an explicit mesh",
    Chooser.COMMITTED: "where the committed arguments are",
    Chooser.DEFAULT: "on the default device",
    None: "not chosen yet",
}


def short(sharding: Sharding) -> str:
    """A sharding in a few characters: the mesh axes of each dimension, "·" for none; "replicated" without any."""
    if not sharding.is_known:
        return "?"
    if sharding.devices == 1:
        return "one device"
    if sharding.axes is None:
        cut = "×".join(map(str, sharding.tiles)) if any(count > 1 for count in sharding.tiles) else "replicated"
    elif any(sharding.axes):
        cut = ",".join("+".join(map(str, dim)) or "·" for dim in sharding.axes)
    else:
        cut = "replicated"
    if sharding.shared(MANUAL) > 1:
        return "per device" if cut == "replicated" else f"{cut} per device"
    return f"{cut} sums" if sharding.shared(UNREDUCED) > 1 else cut


def mark(value: ShardedValue) -> Mark:
    """The mark of a line that computes one value."""
    sharding = value.map.sharding
    lines = [f"{sharding.spec}: {_CHOSEN[value.chosen_by]}", f"{_named(value)}{_mesh(sharding)}", _share(value)]
    if sharding.text and sharding.text != sharding.spec:
        lines.append(sharding.text)
    return Mark(short(sharding), value.chosen_by or NOBODY, "\n".join(lines))


def together(values: Sequence[ShardedValue], noun: str = "") -> Mark:
    """The mark of a line with several values: the last of the largest, and how many differ; `noun` counts them."""
    if len(values) == 1:
        return mark(values[0])
    largest = max(math.prod(value.map.shape) for value in values)
    last = [value for value in values if math.prod(value.map.shape) == largest][-1]
    alike = list({key(value): value for value in values}.values())
    ways = len({short(value.map.sharding) for value in alike})
    label = f"{len(values)} {noun}" if noun else short(last.map.sharding) + (f" +{ways - 1}" if ways > 1 else "")
    kinds = {value.chosen_by for value in alike} if noun else {last.chosen_by}
    kind = (kinds.pop() or NOBODY) if len(kinds) == 1 else SEVERAL
    return Mark(label, kind, line_values.listed([_line(value) for value in alike]))


Key = tuple[str, str, tuple[int, ...], int, str | None]


def key(value: ShardedValue) -> Key:
    """Values with equal keys have equal marks."""
    shard_map = value.map
    return value.made_by or value.name, shard_map.dtype, shard_map.shape, id(shard_map.sharding), value.chosen_by


def _line(value: ShardedValue) -> str:
    return f"{_named(value)}: {value.map.sharding.spec}, {_CHOSEN[value.chosen_by]}; {_share(value)}"


def _named(value: ShardedValue) -> str:
    return f"{value.made_by or value.name} {wording.array(value.map.dtype, value.map.shape)}"


def _mesh(sharding: Sharding) -> str:
    return f" on mesh {sharding.mesh}" if sharding.mesh is not None else ""


def _share(value: ShardedValue) -> str:
    if not value.map.fits:
        return f"which device holds what is unknown: {value.map.sharding.problem or wording.OTHER_RANK}"
    parts = [wording.per_device(value.map), wording.copies(value.map), wording.uneven(value.map)]
    return ", ".join(filter(None, parts))
