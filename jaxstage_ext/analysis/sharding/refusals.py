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
_PLACED = re.compile(
    r"argument (?P<name>\S+) of \S+ with shape \w+\[[\d,]*\] and with device ids \[(?P<ids>[\d, ]*)\] on platform"
)
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
    return indivisible(message) is not None or bool(devices_apart(message))


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


def devices_apart(message: str) -> dict[str, tuple[int, ...]]:
    """The device ids of each argument, where a message says that they differ between arguments; else empty."""
    if "incompatible devices" not in message:
        return {}
    return {match["name"]: tuple(numbers(match["ids"])) for match in _PLACED.finditer(message)}
