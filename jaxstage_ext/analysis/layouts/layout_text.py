"""Layouts as HLO writes them, `f32[8,128]{1,0:T(8,128)S(1)}`, and in words.

Form: xla/layout.h and https://openxla.org/xla/tiled_layout; the dimensions in braces are in minor to major order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from jaxstage_ext.ir.hlo.shapes import HOST

_SHAPE = re.compile(
    r"(?<![a-z0-9])(?P<dtype>[a-z][a-z0-9]*)\[(?P<sizes>[\d,<=?]*)\](?:\{(?P<order>[\d,]*)(?::(?P<more>[^{}]*))?\})?"
)
_TILES = re.compile(r"T((?:\([\d,*]+\))+)")
_TILE = re.compile(r"\(([\d,*]+)\)")
_SPACE = re.compile(r"S\((\d+)\)")
_BITS = re.compile(r"E\((\d+)\)")
_ENTRY = "entry_computation_layout={"
_SPACES = {("tpu", 1): "VMEM", ("tpu", 2): "SMEM"}


@dataclass(frozen=True)
class ArrayLayout:
    """How an array lies in memory."""

    dtype: str
    """HLO's name."""
    sizes: tuple[int, ...]
    """Of its dimensions."""
    order: tuple[int, ...]
    """The dimensions from the minor to the major one."""
    tiles: tuple[tuple[int, ...], ...] = ()
    """Sizes of nested tiles, the outer ones first."""
    space: int = 0
    """XLA's number of the memory."""
    bits: int = 0
    """Of an element where it is stored in other than its own number; 0 otherwise."""
    text: str = ""
    """As HLO writes it, without the dtype and the sizes."""

    @property
    def type(self) -> str:
        """`f32[8,128]`."""
        return f"{self.dtype}[{','.join(map(str, self.sizes))}]"

    @property
    def is_default(self) -> bool:
        """Whether the last dimension is the minor one, as in NumPy."""
        return self.order == tuple(reversed(range(len(self.sizes))))

    def in_words(self, platform: str = "") -> str:
        """`column-major, in tiles of 8 x 128, in VMEM`."""
        return ", ".join(self.parts(platform)) or ("contiguous" if self.sizes else "scalar")

    def parts(self, platform: str) -> list[str]:
        """What `in_words` joins: order, tiles, bits, and a memory other than the device's."""
        words = [self._order()] if len(self.sizes) > 1 else []
        words += [f"in tiles of {' x '.join(map(str, self.tiles[0]))}"] if self.tiles else []
        words += [f"packed {' x '.join(map(str, tile))}" for tile in self.tiles[1:]]
        words += [f"{self.bits} bits an element"] if self.bits else []
        words += [f"in {self.memory(platform)}"] if self.space else []
        return words

    def memory(self, platform: str = "") -> str:
        """The memory that holds it: `device`, `host memory`, `VMEM`, or XLA's number."""
        if self.space in (0, HOST):
            return "host memory" if self.space else "device"
        return _SPACES.get((platform, self.space), f"memory space {self.space}")

    def _order(self) -> str:
        if self.is_default:
            return "row-major"
        if self.order == tuple(range(len(self.sizes))):
            return "column-major"
        return f"dimension {self.order[0]} minormost, then {', '.join(map(str, self.order[1:]))}"


def read(text: str) -> list[ArrayLayout]:
    """The layouts of the arrays in a shape, of a tuple all of its arrays."""
    return [_layout(match) for match in _SHAPE.finditer(text)]


def differing(one: ArrayLayout, other: ArrayLayout, platform: str) -> str:
    """What the first of two layouts has and the other has not, in words."""
    here, there = one.parts(platform), other.parts(platform)
    words = [part for part in here if part not in there]
    is_same = (one.order, one.tiles, one.bits) == (other.order, other.tiles, other.bits)
    return ", ".join(words) or (one.memory(platform) if is_same else one.in_words(platform))


def _layout(match: re.Match[str]) -> ArrayLayout:
    sizes = tuple(int(re.sub(r"\D", "", size) or 0) for size in match["sizes"].split(",")) if match["sizes"] else ()
    order = tuple(map(int, match["order"].split(","))) if match["order"] else tuple(reversed(range(len(sizes))))
    more = match["more"] or ""
    tiles = _TILES.search(more)
    nested = tuple(_numbers(tile[1]) for tile in _TILE.finditer(tiles[1])) if tiles else ()
    space, bits = _SPACE.search(more), _BITS.search(more)
    braces = "" if match["order"] is None else f"{{{match['order']}{':' + more if more else ''}}}"
    return ArrayLayout(
        match["dtype"], sizes, order, nested, int(space[1]) if space else 0, int(bits[1]) if bits else 0, braces
    )


def _numbers(tile: str) -> tuple[int, ...]:
    return tuple(int(size) for size in tile.split(",") if size.isdigit())


def of_entry(head: str) -> tuple[list[ArrayLayout], list[ArrayLayout]]:
    """The layouts of parameters and results in the first line of a module; two empty lists where it has none."""
    start = head.find(_ENTRY)
    if start < 0:
        return [], []
    parts = list(_split(head[start + len(_ENTRY) :]))
    return (read(parts[0]), read(parts[1])) if len(parts) == 2 else ([], [])


def _split(text: str) -> Iterator[str]:
    """The two sides of `(f32[2]{0})->f32[2]{0}}, ...`."""
    depth = 0
    for at, char in enumerate(text):
        depth += (char in "({") - (char in ")}")
        if depth < 0:
            arrow = text.find(")->")
            yield text[:arrow]
            yield text[arrow + 3 : at]
            return
