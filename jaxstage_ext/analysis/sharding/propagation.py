"""The sharding of every value after propagation, read from the module that the partitioner gets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from jaxstage_ext.analysis.cost.loops import executions
from jaxstage_ext.analysis.sharding import from_proto
from jaxstage_ext.analysis.sharding.mesh import Mesh
from jaxstage_ext.analysis.sharding.sharding_map import ShardingMap
from jaxstage_ext.analysis.sharding.slices import Sharding, on_one_device, replicated, with_names
from jaxstage_ext.ir.hlo import module as hlo
from jaxstage_ext.ir.hlo import schema, shapes, sharding_field
from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.ir.wire.protowire import Longs


class Chooser(StrEnum):
    """Who chose a sharding: the program, with a constraint or spec; JAX, on explicit mesh axes; propagation.

    Of a program on one device, what is not committed to a device follows the arguments that are, or else lies on the
    default device.
    """

    YOU = "you"
    JAX = "JAX"
    COMPILER = "compiler"
    COMMITTED = "committed arguments"
    DEFAULT = "default device"


_SHARDING = 40
CONSTRAINTS = ("sharding_constraint", "shard_map", "reshard", "device_put", "mesh_cast")
"""Primitives by which a program chooses a sharding."""
_BOUNDARIES = (b"SPMDShardToFullShape", b"Sharding")
_PLACEMENTS = (b"annotate_device_placement", b"MoveToHost", b"MoveToDevice")
"""What names a memory for a value and leaves its sharding."""
_CALL_TARGET, _TUPLE_INDEX = 28, 13
_NO_VALUE = (b"tuple", b"get-tuple-element", b"parameter", b"constant", b"after-all", b"call", b"while", b"conditional")


@dataclass(frozen=True, eq=False)
class Propagated:
    """A module after propagation."""

    ops: Module = field(repr=False)
    """Its instructions."""
    devices: int
    """How many the program has."""
    meshes: Sequence[Mesh] = ()
    """Their axes name shardings that have no names of their own."""
    lines: Sequence[str] = ()
    """Source line of each instruction, "" unknown."""
    frame: Sequence[int] = ()
    """Its stack in the frame table, -1 unknown."""
    explicit: bool = False
    """Whether JAX chose, on meshes with explicit axes."""
    restored: frozenset[int] = frozenset()
    """The instructions whose line XLA lost and that was found elsewhere; their names are not their own."""
    placed: Mapping[int, int] = field(default_factory=dict)
    """By instruction that only names a memory for a value, the one that makes the value. Nothing else uses it: operands
    are what makes them."""

    def line(self, row: int) -> str:
        return self.lines[row] if row < len(self.lines) else ""

    @cached_property
    def _spelled(self) -> dict[int, bytes]:
        rows = np.arange(len(self.ops))
        field = self.ops.fields(rows, _SHARDING)[_SHARDING]
        texts = self.ops.strings(field, len(rows))
        return {row: texts[row] for row in field.row.tolist()}

    @cached_property
    def _known(self) -> dict[tuple[bytes | None, int], Sharding]:
        return {}

    def sharding(self, row: int) -> Sharding:
        """The sharding of an instruction's result; replicated where it has none, as the partitioner assumes."""
        key = self._spelled.get(row), int(self.ops.shapes.rank[row])
        if key not in self._known:
            self._known[key] = self._read(*key)
        return self._known[key]

    def _read(self, spelled: bytes | None, rank: int) -> Sharding:
        if spelled is None and self.devices == 1:
            return on_one_device(0, rank)
        shardings = [] if spelled is None else from_proto.read(spelled, rank, self.devices)
        return named(shardings[0] if shardings else replicated(self.devices, rank), self.meshes)

    def map(self, row: int) -> ShardingMap:
        """The result of an instruction on the devices."""
        dtype, bits = shapes.TYPES.get(int(self.ops.shapes.element_type[row]), ("", 0))
        return ShardingMap(tuple(self.ops.shapes.sizes(row)), self.sharding(row), dtype, bits or None)

    @cached_property
    def rows(self) -> Longs:
        """The instructions that compute an array, outside computations that are applied to scalars."""
        kind = self.ops.shapes.element_type
        array = ~np.isin(kind, (shapes.TUPLE, shapes.OPAQUE, shapes.TOKEN))
        computes = array & ~np.isin(self.ops.opcode, _NO_VALUE) & ~self._repeats
        return np.flatnonzero(computes & self._runs)

    @cached_property
    def _runs(self) -> npt.NDArray[np.bool_]:
        """The instructions outside computations that are applied to scalars."""
        times = executions.count(self.ops).times > 0
        return np.array(times[self.ops.computation], bool)

    @cached_property
    def names(self) -> list[str]:
        """Per instruction, the last part of its scope, which is the name of the primitive."""
        scopes = self.ops.scopes
        return [scopes[scope].rsplit("/", 1)[-1] if scope >= 0 else "" for scope in self.ops.scope.tolist()]

    def scope(self, row: int) -> str:
        """The full name scope of an instruction, "" without one."""
        number = int(self.ops.scope[row])
        return self.ops.scopes[number] if number >= 0 else ""

    @cached_property
    def by_scope(self) -> dict[str, list[int]]:
        """The instructions that compute an array, by their full name scope."""
        rows: dict[str, list[int]] = {}
        kinds = self.ops.shapes.element_type
        array = ~np.isin(kinds, (shapes.TUPLE, shapes.OPAQUE, shapes.TOKEN)) & (self.ops.scope >= 0)
        for row in np.flatnonzero(array & ~self._repeats & self._runs).tolist():
            rows.setdefault(self.ops.scopes[self.ops.scope[row]], []).append(self.placed.get(row, row))
        return rows

    @cached_property
    def by_line(self) -> dict[str, list[int]]:
        """The instructions that compute an array, by source line."""
        rows: dict[str, list[int]] = {}
        for row in sorted(row for in_scope in self.by_scope.values() for row in in_scope):
            rows.setdefault(self.line(row), []).append(row)
        return rows

    @cached_property
    def users(self) -> dict[int, list[int]]:
        """Per instruction, those that use its result, looking through copies that change nothing."""
        users: dict[int, list[int]] = {}
        pairs = zip(self.ops.operands.owner.tolist(), self.ops.operands.values.tolist(), strict=True)
        kinds = self.ops.shapes.element_type
        for user, operand in pairs:
            if operand >= 0 and kinds[user] != shapes.TUPLE and user not in self.placed:
                users.setdefault(operand, []).append(user)
        for row in np.flatnonzero(self._repeats)[::-1].tolist():
            source = self.ops.operands[row][0]
            users[source] = [user for user in users.get(source, []) if user != row] + users.get(row, [])
        return users

    @cached_property
    def element(self) -> Longs:
        """Which element of a tuple each get-tuple-element takes; 0 for other instructions."""
        elements = self.ops.rows(b"get-tuple-element")
        index = np.zeros(len(self.ops), np.int64)
        field = self.ops.fields(elements, _TUPLE_INDEX)[_TUPLE_INDEX]
        index[elements[field.row]] = field.value
        return index

    @cached_property
    def handed_out(self) -> dict[int, list[Sharding]]:
        """Per instruction, the shardings with which a tuple passes on its result, as to the program's results."""
        shardings: dict[int, list[Sharding]] = {}
        index = self.element
        for row in self.ops.rows(b"get-tuple-element").tolist():
            [bundle] = self.ops.operands[row][:1] or [-1]
            if bundle >= 0 and self.ops.opcode[bundle] == b"tuple":
                shardings.setdefault(self.ops.operands[bundle][index[row]], []).append(self.sharding(row))
        root = int(self.ops.roots[self.ops.entry])
        if self.ops.opcode[root] == b"tuple":
            settled = _numbered([sharding_field.Sharding.FromString(self._spelled.get(root, b""))], self.devices)
            for number, row in enumerate(self.ops.operands[root]):
                if row >= 0 and number in settled and len(settled) == len(self.ops.operands[root]):
                    sharding = settled[number](int(self.ops.shapes.rank[row]))
                    shardings.setdefault(row, []).append(named(sharding, self.meshes))
        return shardings

    @cached_property
    def reshards(self) -> frozenset[int]:
        """Copies that the partitioner added to reshard their operand; those that the program asks for have a name."""
        copies = self.ops.rows(b"copy").tolist()
        source, scope = self.ops.operands.at(0), self.ops.scope
        same = [row for row in copies if source[row] >= 0 and scope[source[row]] == scope[row]]
        return frozenset(row for row in same if not self._repeats[row] and self.names[row] not in CONSTRAINTS)

    @cached_property
    def _repeats(self) -> npt.NDArray[np.bool_]:
        """Copies that only repeat the sharding of their operand, as JAX adds them for explicit axes."""
        repeats = np.zeros(len(self.ops), bool)
        for row in self.ops.rows(b"copy").tolist():
            [source] = self.ops.operands[row][:1] or [-1]
            same = source >= 0 and self._spelled.get(source) == self._spelled.get(row)
            repeats[row] = same and self.names[row] not in CONSTRAINTS
        return repeats

    @cached_property
    def chosen_by(self) -> list[Chooser]:
        """Per instruction, who chose its sharding."""
        by = [Chooser.JAX if self.explicit else Chooser.COMPILER] * len(self.ops)
        everything = np.arange(len(self.ops))
        targets = self.ops.strings(self.ops.fields(everything, _CALL_TARGET)[_CALL_TARGET], len(everything))
        for row in self.ops.rows(b"copy", b"custom-call").tolist():
            if self.names[row] in CONSTRAINTS and (not targets[row] or targets[row] in _BOUNDARIES):
                by[row] = Chooser.YOU
        return by


def read(dump: bytes, devices: int, meshes: Sequence[Mesh] = ()) -> Propagated:
    """The module of a dumped HloProto. Raises ValueError (DecodeError) for malformed bytes."""
    module = hlo.parse(schema.Dumped.FromString(dump).hlo_module)
    placed = _placed(module)
    return Propagated(_used_where_made(module, placed), devices, tuple(meshes), placed=placed)


def _placed(module: Module) -> dict[int, int]:
    """By instruction that only names a memory for a value, the one that makes the value."""
    calls = module.rows(b"custom-call")
    targets = module.strings(module.fields(calls, _CALL_TARGET)[_CALL_TARGET], len(calls))
    placing = {
        row: module.operands[row][0]
        for row, target in zip(calls.tolist(), targets, strict=True)
        if target in _PLACEMENTS and len(module.operands[row]) == 1 and module.operands[row][0] >= 0
    }
    return {row: _made(row, placing) for row in placing}


def _made(row: int, placing: Mapping[int, int]) -> int:
    for _ in range(len(placing) + 1):  # a damaged module may have a cycle
        if row not in placing:
            break
        row = placing[row]
    return row


def _used_where_made(module: Module, placed: Mapping[int, int]) -> Module:
    """The module, in which no operand is an instruction that only names a memory."""
    if not placed:
        return module
    through = np.arange(len(module))
    through[list(placed)] = list(placed.values())
    values = module.operands.values
    return replace(module, operands=replace(module.operands, values=np.where(values >= 0, through[values], values)))


def named(sharding: Sharding, meshes: Sequence[Mesh]) -> Sharding:
    """The sharding with the axis names of the first mesh that fits it; unchanged where none does."""
    for mesh in meshes:
        renamed = with_names(sharding, mesh)
        if renamed.axes is not None:
            return renamed
    return sharding


Settled = Mapping[int, Callable[[int], Sharding]]
"""By number, a function from an array's rank to its sharding."""


def boundaries(module: Module, devices: int) -> tuple[Settled, Settled]:
    """The shardings of an optimised module's parameters and results; empty where it has none."""
    header = module.header
    results = [header.spmd_output_sharding] if header.HasField("spmd_output_sharding") else []
    return _numbered(header.spmd_parameters_shardings, devices), _numbered(results, devices)


def _numbered(messages: Sequence[Any], devices: int) -> Settled:
    leaves = [leaf for message in messages for leaf in from_proto.leaves(message)]
    return {number: partial(_settled, leaf, devices) for number, leaf in enumerate(leaves)}


def _settled(leaf: Any, devices: int, rank: int) -> Sharding:
    return from_proto.flat(leaf, rank, devices)[0]
