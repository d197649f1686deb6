"""Shardings that JAX refuses, read from its messages: the argument, its sharding, and the dimension at fault.

Messages: jax 0.10.2 to 0.12.0.1, IndivisibleError and the ValueErrors of jit and shard_map.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from jaxstage_ext.analysis.sharding.from_text import numbers
from jaxstage_ext.analysis.sharding.mesh import Axis, BadSharding, Mesh
from jaxstage_ext.analysis.sharding.slices import Sharding, on_mesh
from jaxstage_ext.report.text.shortened import some

_LONGEST = 100_000
"""Characters of a message that are searched."""
_SPEC = r"P\((?P<spec>(?:[^()]++|\([^()]*+\))*+)\)"
_INDIVISIBLE = re.compile(
    r"(?:pytree key path (?P<name>\S++) was given the sharding )?(?:Sharding )?"
    r"NamedSharding\(mesh=(?:Abstract)?Mesh\((?P<mesh>(?:'[^']*+': \d++(?:, )?)*+)"
    rf"(?:(?!NamedSharding\(|, spec=P\().)*+, spec={_SPEC}"
    r"(?:, memory_kind=\w+)?\)(?:(?!NamedSharding\().){0,200}?implies that array axis (?P<axis>\d+) "
    r"is partitioned (?P<parts>\d+) times, "
    r"but the dimension size is (?P<size>\d+) \(full shape: \((?P<shape>[\d, ]*)\)",
    re.DOTALL,
)
_SHARD_MAP = re.compile(
    r"The mesh given has shape \((?P<sizes>[\d, ]*)\) with corresponding axis names \((?P<names>[^()]*)\).{0,300}?"
    r"the passed (?P<name>\S{1,400}) of shape \w{1,20}\[(?P<shape>[\d,]*)\]"
    r"(?:, where \S{1,400} is bound to .{0,200}?'s parameter '(?P<parameter>\w+)')?, "
    rf"corresponds to in_specs of value {_SPEC}, "
    r"which maps array axis (?P<axis>\d+) \(of size (?P<size>\d+)\) to mesh axis .{0,200}? "
    r"\(of (?:total )?size (?P<parts>\d+)\)",
    re.DOTALL,
)
_SIDE = re.compile(
    r"(?:Got|and) (?:argument (?P<name>\S+) of \S+ with shape \w+\[[^\[\]]*\] and|(?P<what>[\w' ]{1,80}?)) "
    r"(?:with device ids \[(?P<ids>[\d, ]*)\] on platform (?P<platform>\w+)|as AbstractMesh of size (?P<count>\d{1,9}))"
    r"(?: at (?P<at>[^\n]{1,300}?:\d{1,9}):\d{1,9} \()?"
)
_WHAT = {
    "explicit output sharding": "out_shardings",
    "explicit input sharding": "in_shardings",
    "ARG_SHARDING": "an argument",
    "closed over constant sharding": "a captured array",
    "sharding_constraint inside jit": "with_sharding_constraint",
    "jit inside jit": "an inner jit",
}
_INSIDE, _CONTEXT = " inside jit", "'s context mesh"
_MOST_IDS = 8
_AXIS = re.compile(r"'(?P<name>[^']*)': (?P<size>\d+)")


class Indivisible(NamedTuple):
    """A dimension that is not divisible by its mesh axes. `name` is the argument's, "" where JAX does not say."""

    name: str
    shape: tuple[int, ...]
    axis: int
    parts: int
    sharding: Sharding

    def sentence(self, name: str) -> str:
        """What does not divide, in one sentence; `name` is what to call the argument."""
        size, parts = self.shape[self.axis], self.parts
        divisible = math.ceil(size / parts) * parts
        return (
            f"{name}: dimension {self.axis} of size {size} does not divide into {parts} parts ({self.sharding.spec}); "
            f"the next size that does is {divisible}."
        )


def is_refusal(message: str) -> bool:
    """Whether a message is about shardings that JAX refuses."""
    return indivisible(message) is not None or bool(sides_apart(message))


def indivisible(message: str) -> Indivisible | None:
    """The dimension that is not divisible; None where the message is about something else."""
    message = message[:_LONGEST]
    if match := _INDIVISIBLE.search(message):
        axes = [(axis["name"], int(axis["size"])) for axis in _AXIS.finditer(match["mesh"])]
        return _made(match, match["name"] or "", axes)
    if match := _SHARD_MAP.search(message):
        names = [name.strip(" '") for name in match["names"].split(",") if name.strip()]
        return _made(match, match["parameter"] or match["name"], list(zip(names, numbers(match["sizes"]), strict=True)))
    return None


def _made(match: re.Match[str], name: str, axes: Sequence[tuple[str, int]]) -> Indivisible | None:
    shape = tuple(numbers(match["shape"]))
    try:
        spec: Any = ast.literal_eval(f"({match['spec'].rstrip(', ')},)" if match["spec"].strip(", ") else "()")
        dims = [_axes(entry) for entry in spec][: len(shape)]
        dims += [()] * (len(shape) - len(dims))
        mesh = Mesh(tuple(axis for axis, _ in axes), tuple(size for _, size in axes))
        return Indivisible(name, shape, int(match["axis"]), int(match["parts"]), on_mesh(mesh, dims))
    except (BadSharding, ValueError, SyntaxError, TypeError):
        return None


def _axes(entry: Any) -> tuple[Axis, ...]:
    if entry is None:
        return ()
    return tuple(Axis(str(name)) for name in (entry if isinstance(entry, tuple) else (entry,)))


class PlacedSide(NamedTuple):
    """One of the two that are on different devices."""

    name: str
    """That of an argument, "" for something else."""
    what: str
    """In words, such as "with_sharding_constraint"."""
    ids: tuple[int, ...] | None
    """Of its devices; None of a mesh without devices, which has a `size`."""
    size: int
    platform: str
    """In capitals, "" where it has no devices."""
    at: str
    """Its line as JAX says it, "" where it does not."""

    def sentence(self, mesh: str = "") -> str:
        """`x is on devices 0, 1 (mesh d=2).`"""
        verb = "is" if self.name or not self.what.endswith("shardings") else "are"
        where = f" at {self.at}" if self.at else ""
        on = f"an abstract mesh of size {self.size}" if self.ids is None else devices(self.ids)
        what = self.what if self.name or " " not in self.what else self.what[0].upper() + self.what[1:]
        return f"{what}{where} {verb} on {on}{f' (mesh {mesh})' if mesh else ''}."


def devices(ids: Sequence[int]) -> str:
    """`device 3`, `devices 0, 1`, `devices 0 to 511`."""
    if len(ids) == 1:
        return f"device {ids[0]}"
    if len(ids) > _MOST_IDS and list(ids) == list(range(ids[0], ids[0] + len(ids))):
        return f"devices {ids[0]} to {ids[-1]}"
    return f"devices {some([*map(str, ids)], _MOST_IDS)}"


def sides_apart(message: str) -> tuple[PlacedSide, ...]:
    """Both sides, where a message says that they are on different devices; else empty."""
    if "incompatible devices" not in message:
        return ()
    return tuple(_side(match) for match in _SIDE.finditer(message[:_LONGEST]))


def _side(match: re.Match[str]) -> PlacedSide:
    name, what = match["name"] or "", (match["what"] or "").strip()
    words = "the mesh of jax.set_mesh" if what.endswith(_CONTEXT) else _WHAT.get(what, what.removesuffix(_INSIDE))
    ids = None if match["ids"] is None else tuple(numbers(match["ids"]))
    count = int(match["count"]) if ids is None else len(ids)
    return PlacedSide(name, name or words, ids, count, match["platform"] or "", match["at"] or "")
