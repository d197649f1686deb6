"""Where values change their dtype: in the program as it was written, and in what the compiler made of it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from jaxstage_ext.analysis.cost import executions
from jaxstage_ext.analysis.cost.module_cost import Places
from jaxstage_ext.analysis.dtypes import dtype_wording
from jaxstage_ext.ir.hlo import shapes
from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.report.table import Column, Table

JAXPR, HLO = "jaxpr", "HLO"
PROMOTION, DEMOTION, CHANGE = "promotion", "demotion", "change"
YOU, COMPILER = "program", "compiler"
_NAME = re.compile(r"(bfloat|float|complex|uint|int)(\d+)(.*)")
_SHORT = {"bfloat": "bf", "float": "f", "complex": "c", "uint": "u", "int": "i"}
_HLO_NAMES = {"pred": "bool"} | {f"s{bits}": f"i{bits}" for bits in (1, 2, 4, 8, 16, 32, 64)}
_CONVERT = "convert_element_type"


@dataclass(frozen=True)
class Conversion:
    """One place where a value changes its dtype.

    Attributes:
      stage: JAXPR or HLO.      source, target: dtypes, "bf16".      kind: PROMOTION, DEMOTION or CHANGE.
      shape: of the value, on one device for HLO.
      weak: whether the value came from a Python scalar, whose dtype is not its own.
      runs: times in one run of the program; None in a loop of unknown length.
      grows: bytes that the value is larger afterwards, one run; negative where it shrinks.
      written: bytes of the result that go to memory, one run; None where it is not known, as in a jaxpr.
      by: YOU or COMPILER.      purpose: what takes the result, or what made the conversion.
      line: of the user's source.      row: of the HLO document, -1 in a jaxpr.
    """

    stage: str
    source: str
    target: str
    kind: str
    shape: tuple[int, ...]
    weak: bool
    runs: float | None
    grows: int
    written: int | None
    by: str
    purpose: str
    line: str
    row: int = -1

    @property
    def total_growth(self) -> float:
        return self.grows * (1 if self.runs is None else self.runs)


@dataclass(frozen=True, eq=False)
class Dtypes:
    """All conversions of a program, those that move most first."""

    conversions: tuple[Conversion, ...] = field(default=())
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.conversions)

    @property
    def headline(self) -> str:
        """How many values change their dtype, by whose wish, and where the most bytes come of it."""
        return dtype_wording.headline(self.conversions)

    @cached_property
    def table(self) -> Table:
        each = self.conversions
        columns = {
            "stage": Column([one.stage for one in each]),
            "from": Column([one.source + (" weak" if one.weak else "") for one in each]),
            "to": Column([one.target for one in each]),
            "kind": Column([one.kind for one in each]),
            "shape": Column([f"[{','.join(map(str, one.shape))}]" for one in each], "", "on one device in HLO"),
            "grows": Column([float(one.total_growth) for one in each], "B", "larger by, all runs"),
            "written": Column(
                [math.nan if one.written is None else one.written * (one.runs or 1.0) for one in each],
                "B",
                "to memory, all runs; 0 inside a fusion",
            ),
            "runs": Column([one.runs for one in each]),
            "by": Column([one.by for one in each]),
            "for": Column([one.purpose for one in each]),
            "line": Column([one.line for one in each]),
            "row": Column([one.row for one in each], "", "row of the HLO document"),
        }
        written = "a jaxpr does not say what goes to memory"
        reasons = {(i, "written"): written for i, one in enumerate(each) if one.written is None}
        reasons |= {(i, "runs"): "in a loop of unknown length" for i, one in enumerate(each) if one.runs is None}
        return Table("dtypes", columns, reasons, self.notes)

    def to_pandas(self) -> Any:
        """The table as a pandas.DataFrame."""
        return self.table.to_pandas()

    def to_json(self) -> str:
        """The table as versioned JSON."""
        return self.table.to_json()

    def __str__(self) -> str:
        return f"{self.headline}\n{self.table}" if self.conversions else self.headline

    __repr__ = __str__


def short(dtype: str) -> str:
    """A dtype's short name, of NumPy's or of HLO's: "bf16", "i32", "bool"."""
    match = _NAME.fullmatch(dtype)
    return f"{_SHORT[match[1]]}{match[2]}{match[3]}" if match else _HLO_NAMES.get(dtype, dtype)


def of_jaxpr(jaxpr: Any, line_of: Callable[[Any], str]) -> Iterator[Conversion]:
    """The conversions of a (closed) jaxpr and those that it holds; `line_of` gives an equation's source line."""
    todo: list[tuple[Any, float | None]] = [(getattr(jaxpr, "jaxpr", jaxpr), 1.0)]
    while todo:
        current, runs = todo.pop()
        users = _users(current)
        for eqn in current.eqns:
            if (found := _converted(eqn)) is not None:
                source, weak = found
                yield _written(eqn, source, weak, runs, users, line_of)
            todo += [(inner, _times(eqn, runs)) for inner in _inner(eqn)]


def _converted(eqn: Any) -> tuple[Any, bool] | None:
    """(the operand whose dtype the equation changes, whether that is weak); None where it changes none."""
    name, out = eqn.primitive.name, eqn.outvars[0].aval if eqn.outvars else None
    if name == _CONVERT or (name == "dot_general" and eqn.params.get("preferred_element_type") is not None):
        source = eqn.invars[0].aval
        same = getattr(source, "dtype", None) == getattr(out, "dtype", None)
        return None if same else (source, name == _CONVERT and bool(getattr(source, "weak_type", False)))
    return None


def _users(jaxpr: Any) -> dict[int, list[Any]]:
    users: dict[int, list[Any]] = {}
    for eqn in jaxpr.eqns:
        for var in eqn.invars:
            users.setdefault(id(var), []).append(eqn)
    return users


def _inner(eqn: Any) -> Iterator[Any]:
    for value in eqn.params.values():
        for part in value if isinstance(value, tuple | list) else (value,):
            inner = getattr(part, "jaxpr", part)
            if hasattr(inner, "eqns"):
                yield inner


def _times(eqn: Any, runs: float | None) -> float | None:
    if eqn.primitive.name == "while" or runs is None:
        return None
    return runs * eqn.params["length"] if eqn.primitive.name == "scan" else runs


def _written(
    eqn: Any, source: Any, weak: bool, runs: float | None, users: dict[int, list[Any]], line_of: Callable[[Any], str]
) -> Conversion:
    out = eqn.outvars[0].aval
    names = dict.fromkeys(one.primitive.name for one in users.get(id(eqn.outvars[0]), ()))
    accumulates = eqn.primitive.name != _CONVERT
    purpose = f"{eqn.primitive.name} accumulates" if accumulates else ", ".join(list(names)[:3])
    if eqn.params.get("weak_type") and not weak:
        purpose = f"{purpose} with a Python scalar".strip()
    grows = 0 if accumulates else math.prod(out.shape) * (out.dtype.itemsize - source.dtype.itemsize)
    return Conversion(
        JAXPR,
        short(str(source.dtype.name)),
        short(str(out.dtype.name)),
        _kind(source.dtype.itemsize, out.dtype.itemsize),
        tuple(out.shape),
        weak,
        runs,
        grows,
        None,
        YOU,
        purpose,
        line_of(eqn),
    )


def _kind(before: float, after: float) -> str:
    return PROMOTION if after > before else DEMOTION if after < before else CHANGE


def of_hlo(module: Module, places: Places) -> Iterator[Conversion]:
    """The conversions of an optimised module that run."""
    loops = executions.count(module)
    fused = set(module.called.values[module.opcode[module.called.owner] == b"fusion"].tolist())
    for row in module.rows(b"convert").tolist():
        computation, source = int(module.computation[row]), module.operands[row][0]
        if not loops.times[computation] or source < 0:
            continue
        before, after = int(module.shapes.bytes[source]), int(module.shapes.bytes[row])
        scope = module.scopes[module.scope[row]] if module.scope[row] >= 0 else ""
        primitive = scope.rsplit("/", 1)[-1]
        yield Conversion(
            HLO,
            _type(module, source),
            _type(module, row),
            _kind(before, after),
            tuple(module.shapes.sizes(row)),
            False,
            None if loops.unknown[computation] else float(loops.times[computation]),
            after - before,
            after if computation not in fused or int(module.roots[computation]) == row else 0,
            YOU if primitive == _CONVERT else COMPILER,
            primitive,
            places.line[row],
            int(places.row[row]),
        )


def _type(module: Module, row: int) -> str:
    name, _ = shapes.TYPES.get(int(module.shapes.element_type[row]), ("unknown", 0))
    return short(name)


def join(conversions: Sequence[Conversion], notes: tuple[str, ...] = ()) -> Dtypes:
    """The table of conversions, the largest first, those of the program before those of the compiler."""
    order = sorted(conversions, key=lambda one: (one.stage != JAXPR, -abs(one.total_growth), one.line))
    return Dtypes(tuple(order), notes)
