"""What is said of a value's sharding, in words: which device holds which slice."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from jaxstage_ext.analysis.sharding.device_places import DevicePlace, processes
from jaxstage_ext.analysis.sharding.process_parts import ProcessPart, process_parts
from jaxstage_ext.analysis.sharding.sharding_map import ShardingMap
from jaxstage_ext.analysis.sharding.slices import MANUAL, UNREDUCED
from jaxstage_ext.report.text.process_names import process_names
from jaxstage_ext.report.text.still_table import Head, StillTable, lines
from jaxstage_ext.report.text.units import plural, scaled, share

MOST_SLICES, MOST_DEVICES = 32, 16
"""Most slices listed, and most devices listed for each."""
MOST_SHAPES = 3
"""Most shapes of processes named."""
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
    local = per_process(value, places)
    yield f"{'; '.join([*_shares(value), *([f'{local} per process'] if local else [])])}."
    if sharding.devices > 1:
        yield from _slices(value, places)


def array(dtype: str, shape: Sequence[int]) -> str:
    """`f32[8,128]`."""
    return f"{dtype}[{','.join(map(str, shape))}]"


def per_device(value: ShardingMap) -> str:
    """`f32[4,128] per device, 2.05 kB`, of a value whose sharding is known."""
    size = f", {scaled(value.shard_bytes, 'B')}" if value.shard_bytes is not None else ""
    return f"{array(value.dtype, value.shard_shape or ())} per device{size}"


def per_process(value: ShardingMap, places: Sequence[DevicePlace]) -> str:
    """What each process holds, `f32[8,128]`, the processes beside it where they hold different shapes, or only some
    hold any; "" where there is one process, or where that is unknown.
    """
    if processes(places) < 2:
        return ""
    holding: dict[str, list[int]] = {}
    for part in process_parts(value, places):
        holding.setdefault(_part(value, part), []).append(part.process)
    if len(holding) == 1 and len(next(iter(holding.values()))) == processes(places):
        return next(iter(holding))
    named = [f"{text} ({process_names(numbers)})" for text, numbers in holding.items()]
    more = [plural(len(named) - MOST_SHAPES, "more shape")] if len(named) > MOST_SHAPES else []
    return ", ".join([*named[:MOST_SHAPES], *more])


def held_by(value: ShardingMap, places: Sequence[DevicePlace], process: int) -> str:
    """What this process holds of a value of several, and which processes hold it where this one holds nothing."""
    if processes(places) < 2 and {place.process for place in places} == {process}:
        return ""
    parts = {part.process: part for part in process_parts(value, places)}
    if not parts:
        return ""
    if (own := parts.get(process)) is None:
        return f"This process ({process}) holds nothing of it; it is on {process_names(list(parts))}."
    where = "" if own.bounds is None else f": {spelled(own.bounds)}"
    return f"This process ({process}) holds {_part(value, own)}{where}."


def of_another(places: Sequence[DevicePlace]) -> str:
    """Whose devices these are where that is another process than the first, ` of process 1`; else ""."""
    of = {place.process for place in places}
    return f" of process {of.pop()}" if len(of) == 1 and of != {0} and of != {None} else ""


def _part(value: ShardingMap, part: ProcessPart) -> str:
    if part.shape is not None:
        return array(value.dtype, part.shape)
    return f"not one block: {part.elements:,} of {math.prod(value.shape):,} elements"


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
