"""What stands beside a line for the sharding of what it makes, in a few characters and in words."""

from __future__ import annotations

import math
from collections.abc import Sequence

from jaxstage_ext.analysis.margin import line_values
from jaxstage_ext.analysis.margin.line_values import Mark
from jaxstage_ext.analysis.sharding.propagation import COMPILER, JAX, YOU
from jaxstage_ext.analysis.sharding.slices import MANUAL, UNREDUCED, Sharding
from jaxstage_ext.analysis.sharding.value_tables import Value
from jaxstage_ext.report.table import scaled

NOBODY, SEVERAL = "nobody", "several"
"""Who chose, beside those of propagation."""
_CHOSEN = {
    YOU: "your choice",
    COMPILER: "the compiler's choice",
    JAX: "JAX's choice, by the types of an explicit mesh",
    None: "nobody has chosen it yet",
}


def short(sharding: Sharding) -> str:
    """In a few characters: for each dimension the axes it lies along, "·" for none; "replicated" where none has any."""
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


def mark(value: Value) -> Mark:
    """What stands beside the line of one value."""
    sharding = value.map.sharding
    told = [f"{sharding.spec}: {_CHOSEN[value.chosen_by]}", f"{_named(value)}{_mesh(sharding)}", _share(value)]
    if sharding.text and sharding.text != sharding.spec:
        told.append(sharding.text)
    return Mark(short(sharding), value.chosen_by or NOBODY, "\n".join(told))


def together(values: Sequence[Value], noun: str = "") -> Mark:
    """Beside the line of several values: the last of the largest, and how many lie otherwise; `noun` counts them."""
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


def key(value: Value) -> Key:
    """Two values of a module that have the same have the same mark."""
    one = value.map
    return value.made_by or value.name, one.dtype, one.shape, id(one.sharding), value.chosen_by


def _line(value: Value) -> str:
    return f"{_named(value)}: {value.map.sharding.spec}, {_CHOSEN[value.chosen_by]}; {_share(value)}"


def _named(value: Value) -> str:
    one = value.map
    return f"{value.made_by or value.name} {one.dtype}[{','.join(map(str, one.shape))}]"


def _mesh(sharding: Sharding) -> str:
    return f" on mesh {sharding.mesh}" if sharding.mesh is not None else ""


def _share(value: Value) -> str:
    one = value.map
    if one.shard_shape is None:
        return f"which device holds what is unknown: {one.sharding.problem or 'it is for values of another rank'}"
    size = f", {scaled(one.shard_bytes, 'B')}" if one.shard_bytes is not None else ""
    copies = f", the same on {one.copies} devices" if (one.copies or 1) > 1 else ""
    uneven = f"; uneven, {one.padding:.0%} of it padding" if one.is_uneven else ""
    return f"{one.dtype}[{','.join(map(str, one.shard_shape))}] a device{size}{copies}{uneven}"
