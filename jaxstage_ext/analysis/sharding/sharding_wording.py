"""What is said of a value's sharding, in words: which device holds which slice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jaxstage_ext.analysis.sharding.device_places import DevicePlace, processes
from jaxstage_ext.analysis.sharding.sharding_map import ShardingMap
from jaxstage_ext.analysis.sharding.slices import MANUAL, UNREDUCED
from jaxstage_ext.report.text.still_table import Head, StillTable, lines
from jaxstage_ext.report.text.units import scaled, share

MOST_SLICES, MOST_DEVICES = 32, 16
"""Most slices listed, and most devices listed for each."""
CHOOSER_NOT_KEPT = "an executable does not say who chose it"
NOT_SENT = "not sent: unused"
OTHER_RANK = "the sharding is for values of another rank"


def describe(name: str, value: ShardingMap, places: Sequence[DevicePlace] = ()) -> str:
    """What each device holds of a value; `places` are the devices in the order of the device assignment."""
    return "\n".join(_lines(name, value, places))


def _lines(name: str, value: ShardingMap, places: Sequence[DevicePlace]) -> Iterator[str]:
    sharding = value.sharding
    mesh = f" on mesh {sharding.mesh}" if sharding.mesh is not None else ""
    yield f"{name + ': ' if name else ''}{array(value.dtype, value.shape)} {sharding.shown}{mesh}"
    if not value.fits:
        yield f"Which device holds what is unknown: {sharding.problem or OTHER_RANK}."
        return
    yield f"{'; '.join(_shares(value))}."
    if sharding.devices > 1:
        yield from _slices(value, places)


def array(dtype: str, shape: Sequence[int]) -> str:
    """`f32[8,128]`."""
    return f"{dtype}[{','.join(map(str, shape))}]"


def per_device(value: ShardingMap) -> str:
    """`f32[4,128] per device, 2.05 kB`, of a value whose sharding is known."""
    size = f", {scaled(value.shard_bytes, 'B')}" if value.shard_bytes is not None else ""
    return f"{array(value.dtype, value.shard_shape or ())} per device{size}"


def copies(value: ShardingMap) -> str:
    """On how many devices each shard is; "" for one."""
    return f"each shard on {value.copies:,} devices" if (value.copies or 1) > 1 else ""


def uneven(value: ShardingMap) -> str:
    """How much padding an uneven sharding has; "" for an even one."""
    return f"uneven, {share(value.padding or 0)} padding" if value.is_uneven else ""


def _shares(value: ShardingMap) -> Iterator[str]:
    yield per_device(value)
    if text := copies(value):
        yield text
    if (sums := value.sharding.shared(UNREDUCED)) > 1:
        yield f"partial sums on {sums:,} devices, not yet added up"
    if (own := value.sharding.shared(MANUAL)) > 1:
        yield f"a separate value on each of {own:,} devices, inside shard_map"
    if text := uneven(value):
        yield text


def _slices(value: ShardingMap, places: Sequence[DevicePlace]) -> Iterator[str]:
    holders: dict[str, list[int]] = {}
    for number, bounds in zip(value.numbers.tolist(), value.bounds.tolist(), strict=True):
        holders.setdefault(spelled(bounds), []).append(number)
    shown = dict(list(holders.items())[:MOST_SLICES])
    several, rows = processes(places), list[tuple[str, str]]()
    for text, numbers in shown.items():
        names = [places[n].within(several) if n < len(places) else str(n) for n in numbers[:MOST_DEVICES]]
        more = f" and {len(numbers) - MOST_DEVICES} more" if len(numbers) > MOST_DEVICES else ""
        rows.append((text, f"{' '.join(names)}{more}"))
    left_out, noun = len(holders) - len(shown), ("more slice", "more slices")
    yield from lines(StillTable((Head("slice"), Head("devices")), tuple(rows), left_out=left_out, noun=noun))


def spelled(bounds: Sequence[Sequence[int]]) -> str:
    """`[0:4, 16:32]`; `[]` for a scalar, "nothing" for a part that is all padding."""
    if any(start >= stop for start, stop in bounds):
        return "nothing"
    return f"[{', '.join(f'{start}:{stop}' for start, stop in bounds)}]"
