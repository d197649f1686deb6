"""A value on its devices in words: who holds which slice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jaxstage_ext.analysis.sharding.slices import MANUAL, UNREDUCED
from jaxstage_ext.analysis.sharding.value_tables import Place, Value
from jaxstage_ext.report.table import scaled

MOST_SLICES, MOST_DEVICES = 32, 16
"""Slices that are listed, and devices of one."""


def describe(value: Value, places: Sequence[Place] = ()) -> str:
    """What each device holds of a value, `places` being the devices in the order of the device assignment."""
    return "\n".join(_lines(value, places))


def _lines(value: Value, places: Sequence[Place]) -> Iterator[str]:
    one, sharding = value.map, value.map.sharding
    kind = f"{one.dtype}[{','.join(map(str, one.shape))}]"
    mesh = f" on mesh {sharding.mesh}" if sharding.mesh is not None else ""
    yield f"{value.name + ': ' if value.name else ''}{kind} {sharding.spec}{mesh}"
    if not one.fits or one.shard_shape is None:
        yield f"Which device holds what is unknown: {sharding.problem or 'it is for values of another rank'}."
        return
    yield _shares(value)
    if sharding.devices > 1:
        yield from _slices(value, places)


def _shares(value: Value) -> str:
    one = value.map
    size = f", {scaled(one.shard_bytes, 'B')}" if one.shard_bytes is not None else ""
    said = [f"Each device holds {one.dtype}[{','.join(map(str, one.shard_shape or ()))}]{size}"]
    if (one.copies or 1) > 1:
        said.append(f"the same on {one.copies} devices")
    if (sums := one.sharding.shared(UNREDUCED)) > 1:
        said.append(f"partial sums on {sums} devices, not yet added")
    if (own := one.sharding.shared(MANUAL)) > 1:
        said.append(f"each of {own} devices its own, inside shard_map")
    if one.is_uneven:
        said.append(f"uneven: {one.padding:.0%} of that is padding")
    return "; ".join(said) + "."


def _slices(value: Value, places: Sequence[Place]) -> Iterator[str]:
    holders: dict[str, list[int]] = {}
    for number, bounds in zip(value.map.numbers.tolist(), value.map.bounds.tolist(), strict=True):
        holders.setdefault(spelled(bounds), []).append(number)
    shown = dict(list(holders.items())[:MOST_SLICES])
    width = max(map(len, shown))
    yield f"{'slice':<{width}}  devices"
    for text, numbers in shown.items():
        names = [str(places[n].id) if n < len(places) else str(n) for n in numbers[:MOST_DEVICES]]
        more = f" and {len(numbers) - MOST_DEVICES} more" if len(numbers) > MOST_DEVICES else ""
        yield f"{text:<{width}}  {' '.join(names)}{more}"
    if len(holders) > len(shown):
        yield f"and {len(holders) - len(shown):,} more slices"


def spelled(bounds: Sequence[Sequence[int]]) -> str:
    """`[0:4, 16:32]`; `[]` of a scalar, "nothing" of a part that lies wholly in the padding."""
    if any(start >= stop for start, stop in bounds):
        return "nothing"
    return f"[{', '.join(f'{start}:{stop}' for start, stop in bounds)}]"
