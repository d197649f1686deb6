"""Costs made by hand, for tests of what is made of them: no JAX, no module."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from jaxstage_ext.analysis.cost.loops.executions import Executions
from jaxstage_ext.analysis.cost.module_cost import Cost, Places
from jaxstage_ext.analysis.cost.work_range import WorkRange
from jaxstage_ext.ir.hlo import schema
from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.ir.hlo.shapes import TYPES, Shapes
from jaxstage_ext.ir.wire import protowire
from jaxstage_ext.ir.wire.lists import Lists, lists
from jaxstage_ext.program.running.measured_columns import with_measured

NUMBER = {name: number for number, (name, *_) in TYPES.items()}


class Instruction(NamedTuple):
    """One instruction of an entry computation, and what one run of it costs."""

    name: str
    opcode: str
    flops: float
    bytes: float
    dtype: str = "f32"
    line: str = "In [5]:2"
    scope: str = "jit(f)"
    runs: float = 1
    row: int = 3
    operands: tuple[int, ...] = ()


def operations(instructions: Sequence[Instruction]) -> Module:
    n = len(instructions)
    kinds = np.array([NUMBER[one.dtype] for one in instructions], np.int64)
    ones = np.ones(n, np.int64)
    shapes = Shapes.__new__(Shapes)
    shapes.__dict__.update(element_type=kinds, elements=ones, bytes=ones, padded=ones)
    owner = [i for i, one in enumerate(instructions) for _ in one.operands]
    values = [operand for one in instructions for operand in one.operands]
    nothing: Lists = lists(np.zeros(0, np.int64), np.zeros(0, np.int64), n)
    empty = np.zeros(0, np.int64)
    header = schema.Module()
    header.computations.add(name="main", id=1, root_id=n - 1)
    header.entry_computation_id = 1
    module = Module(
        protowire.PADDING,
        np.zeros(n, np.int64),
        header,
        names=[one.name.encode() for one in instructions],
        opcode=np.array([one.opcode.encode() for one in instructions], "S32"),
        computation=np.zeros(n, np.int64),
        ids=np.arange(n),
        operands=lists(np.array(owner, np.int64), np.array(values, np.int64), n) if owner else nothing,
        called=nothing,
        stack_frame=np.zeros(n, np.int64),
        scope=np.full(n, -1, np.int32),
        scopes=(),
        shape_field=protowire.Field(empty, empty, empty, empty),
    )
    vars(module)["shapes"] = shapes
    return module


def cost(*instructions: Instruction) -> Cost:
    """Half of an instruction's bytes are read. NaN FLOPs are unknown."""
    names = ("flops", "bytes", "runs")
    column = {name: np.array([getattr(one, name) for one in instructions], float) for name in names}
    places = Places(
        np.array([one.row for one in instructions], np.int64),
        [one.line for one in instructions],
        [one.scope for one in instructions],
    )
    unknown = {i: f"{one.name} is a custom call" for i, one in enumerate(instructions) if np.isnan(one.flops)}
    once = np.ones(1)
    made = Cost(
        operations(instructions),
        places,
        column["flops"],
        np.zeros(len(instructions)),
        column["bytes"] / 2,
        column["bytes"] / 2,
        column["runs"],
        np.ones(len(instructions)),
        Executions(once, once, {}, np.zeros(1, bool)),
        np.arange(len(instructions)),
        unknown,
    )
    totals = (float(np.nansum(column[name] * column["runs"])) for name in ("flops", "bytes"))
    ranges = [WorkRange(total, total, None if unknown else total) for total in totals]
    vars(made).update(zip(("flops_range", "bytes_range"), ranges, strict=True))
    return made


@dataclass
class Device:
    """Peaks made by hand."""

    title: str = "a device"
    flops: dict[str, float] = field(default_factory=lambda: {"f32": 100.0, "bf16": 1000.0})
    bandwidth: float | None = 10.0
    vector: dict[str, float] = field(default_factory=lambda: {"f32": 100.0, "bf16": 1000.0})
    functions: tuple[tuple[float, float], ...] = ()
    cache: int | None = None
    cache_bandwidth: float | None = None
    measured: bool = False


@dataclass
class Costs:
    """What the cost view uses of `jaxstage_ext.program.questions.cost.Costs`."""

    work: Cost
    roofline: Any = None
    ledger: Any = None
    measured: Any = None

    @property
    def verdicts(self) -> list[str]:
        return [self.roofline.verdict]

    @property
    def table(self) -> Any:
        table = self.work.table
        return table if self.measured is None else with_measured(table, self.work, self.roofline, self.measured)

    def by(self, group: str) -> Any:
        return self.work.by(group)
