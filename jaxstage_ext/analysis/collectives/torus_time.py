"""The least time of a collective on a torus of chips, or on a part of one without wrap-around.

An axis of the torus gives each chip two links, those at the ends of an axis without wrap-around one. So a time is at
least, with L the bandwidth of a link in one direction, n the chips of a group, and m those along one of its axes:

- all-gather, reduce-scatter: (n - 1) / n S has to get into, or out of, the chip with the fewest links.
- all-reduce: S has to get out of that chip, and 2 (n - 1) / n S out of each chip on average.
- all-to-all: (n - 1) / n S out of that chip, and across the middle of each axis, m S / 4 by the one link in which the
  halves of a line meet or the two of a ring (its bisection).
- permutation: S by the one link over which a chip's data leaves.

Chips and axes: Austin et al., "How to Scale Your Model", 2025, part 3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from jaxstage_ext.analysis.collectives.device_groups import Groups


@dataclass(frozen=True)
class Torus:
    """Chips in a torus or a part of one."""

    bandwidth: float
    """Bytes per second that one device can send over all links together, in one direction."""
    coords: Sequence[Sequence[int]]
    """Of each device."""
    wraps: Sequence[bool]
    """Per axis, whether its last chip is linked to its first."""
    chip: int = 1
    """Devices of a chip, which share its links."""


class Box(NamedTuple):
    """A group on the torus: chips along each axis that it spans, whether each wraps, and its devices of one chip."""

    sizes: tuple[int, ...]
    wraps: tuple[bool, ...]
    chips: int
    devices: int

    @property
    def fewest_links(self) -> int:
        return sum(2 if wraps else 1 for wraps in self.wraps)

    @property
    def average_links(self) -> float:
        return sum(2 if w else 2 * (m - 1) / m for m, w in zip(self.sizes, self.wraps, strict=True))


def seconds(kind: str, payload: float, groups: Groups, torus: Torus) -> float:
    """The least time of a collective whose groups leave the chip; 0 for a kind of which nothing is known."""
    link = torus.bandwidth / (2 * len(torus.coords[0]))
    if groups.is_pairs:
        return payload / (link * torus.chip)
    return max(_of_box(kind, payload, _box(group, torus), link) for group in groups.members)


def _box(group: Sequence[int], torus: Torus) -> Box:
    coords = [tuple(torus.coords[device]) for device in group]
    sizes = [len(set(values)) for values in zip(*coords, strict=True)]
    wraps = [*torus.wraps, *[True] * len(sizes)]
    spanned = [axis for axis, size in enumerate(sizes) if size > 1]
    return Box(
        tuple(sizes[axis] for axis in spanned),
        tuple(wraps[axis] for axis in spanned),
        len(set(coords)),
        max(Counter(coords).values(), default=1),
    )


def _of_box(kind: str, payload: float, box: Box, link: float) -> float:
    """The devices of a chip in one group have as many shares of its links, and pass data on to each other."""
    if box.chips < 2:
        return 0.0
    link, part = link * box.devices, (box.chips - 1) / box.chips
    if kind in ("all-gather", "reduce-scatter"):
        return part * payload / (box.fewest_links * link)
    if kind == "all-reduce":
        return max(payload / box.fewest_links, 2 * part * payload / box.average_links) / link
    if kind == "all-to-all":
        out = part * payload / box.fewest_links
        return max(out, *(_across(payload, m, w) for m, w in zip(box.sizes, box.wraps, strict=True))) * (
            box.devices / link
        )
    return payload / (2 * len(box.sizes) * link) if kind == "collective-broadcast" else 0.0


def _across(payload: float, size: int, wraps: bool) -> float:
    """Bytes that each line of chips along an axis sends one way across its middle, per link that it has there."""
    return (size // 2) * (size - size // 2) / size * payload / (2 if wraps else 1)
