"""Where values change their dtype: in the program as written, and in the optimised module."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from jaxstage_ext.analysis.cost.loops import executions
from jaxstage_ext.analysis.cost.module_cost import Places
from jaxstage_ext.analysis.dtypes.infection import Infections
from jaxstage_ext.ir.hlo import shapes
from jaxstage_ext.ir.hlo.module import Module

_NAME = re.compile(r"(bfloat|float|complex|uint|int)(\d+)(.*)")
_SHORT = {"bfloat": "bf", "float": "f", "complex": "c", "uint": "u", "int": "i"}
_HLO_NAMES = {"pred": "bool"} | {f"s{bits}": f"i{bits}" for bits in (1, 2, 4, 8, 16, 32, 64)}
_SHORT_NAME = re.compile(r"(bf|f|c|i|u)(\d+)")
_KINDS = {"bf": "float", "f": "float", "c": "float", "i": "integer", "u": "integer"}
_SAME_BYTES = (b"bitcast", b"reshape", b"get-tuple-element")
CONVERT = "convert_element_type"
"""JAX's primitive that does nothing but convert."""


class ConversionStage(StrEnum):
    """Where a conversion was found."""

    JAXPR = "jaxpr"
    HLO = "HLO"


class Change(StrEnum):
    """Whether a dtype becomes a larger or smaller one of its kind, or one of another kind or of the same size."""

    PROMOTION = "promotion"
    DEMOTION = "demotion"
    CHANGE = "change"


class Origin(StrEnum):
    """Who made a conversion."""

    PROGRAM = "program"
    COMPILER = "compiler"


@dataclass(frozen=True)
class Conversion:
    """One place where a value changes its dtype."""

    stage: ConversionStage
    source: str
    target: str
    """`source`, `target`: dtypes, such as "bf16"."""
    kind: Change
    shape: tuple[int, ...]
    """Of the value, per device for HLO."""
    weak: bool
    """Whether the value came from a Python scalar (a weak type)."""
    runs: float | None
    """Times in one run of the program; None in a loop of unknown length."""
    grows: int
    """Bytes by which the value grows in one run; negative where it shrinks."""
    written: int | None
    """Bytes of the result that go to memory in one run; None where unknown, as in a jaxpr."""
    by: Origin
    primitive: str
    """The primitive that converts, "" unknown."""
    users: tuple[str, ...]
    """Primitives that take the result, in a jaxpr."""
    with_scalar: bool
    """Whether it is converted to match a Python scalar."""
    line: str
    """Source line, "" unknown."""
    row: int = -1
    """Of the HLO document, -1 in a jaxpr."""
    infects: int | None = None
    """Later values that carry the larger dtype of a promotion of the jaxpr; None for any other conversion."""
    infected: int = 0
    """Bytes of these values, each once."""
    because: str = ""
    """The source line of an earlier promotion whose values JAX inserted this one for; "" where there is none."""

    @property
    def accumulates(self) -> bool:
        """Whether an operation of the jaxpr accumulates in a larger dtype than its operands have."""
        return self.stage is ConversionStage.JAXPR and self.primitive != CONVERT

    @property
    def total_growth(self) -> float:
        return self.grows * (1 if self.runs is None else self.runs)


def short(dtype: str) -> str:
    """The short name of a dtype of NumPy or HLO: "bf16", "i32", "bool"."""
    match = _NAME.fullmatch(dtype)
    return f"{_SHORT[match[1]]}{match[2]}{match[3]}" if match else _HLO_NAMES.get(dtype, dtype)


def of_jaxpr(
    jaxpr: Any, line_of: Callable[[Any], str], place_of: Callable[[Any], int] = lambda _: -1
) -> Iterator[Conversion]:
    """The conversions of a (closed) jaxpr and the jaxprs inside it, in program order, with what each infects.

    `line_of` gives an equation's source line, `place_of` a number for its place in the source.
    """
    whole = getattr(jaxpr, "jaxpr", jaxpr)
    infections = Infections(_promotes, place_of)
    infections.follow(whole, [None] * len(whole.invars))
    lines: dict[int, str] = {}
    for eqn, converted, runs, users in _in_order(whole, 1.0):
        made = _written(eqn, *converted, runs, users, line_of)
        lines[id(eqn)] = made.line
        found = infections.found.get(id(eqn))
        if found is None:
            yield made
        else:
            because = lines.get(found.because, "") if found.because is not None else ""
            yield replace(made, infects=found.values, infected=found.bytes, because=because)


def _in_order(jaxpr: Any, runs: float | None) -> Iterator[tuple[Any, tuple[Any, bool], float | None, dict[int, Any]]]:
    """The equations that convert, with what they convert, how often they run, and who uses which value."""
    users = _users(jaxpr)
    for eqn in jaxpr.eqns:
        if (converted := _converted(eqn)) is not None:
            yield eqn, converted, runs, users
        for inner in _inner(eqn):
            yield from _in_order(inner, _times(eqn, runs))


def _promotes(eqn: Any) -> bool:
    converted = _converted(eqn)
    if converted is None:
        return False
    names = (short(str(each.dtype.name)) for each in (converted[0], eqn.outvars[0].aval))
    return change(*names) is Change.PROMOTION


def _converted(eqn: Any) -> tuple[Any, bool] | None:
    """(the operand whose dtype an equation changes, whether its type is weak); None where it changes none."""
    name, out = eqn.primitive.name, eqn.outvars[0].aval if eqn.outvars else None
    if name == CONVERT or (name == "dot_general" and eqn.params.get("preferred_element_type") is not None):
        source = eqn.invars[0].aval
        same = getattr(source, "dtype", None) == getattr(out, "dtype", None)
        return None if same else (source, name == CONVERT and bool(getattr(source, "weak_type", False)))
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
    names = dict.fromkeys(user.primitive.name for user in users.get(id(eqn.outvars[0]), ()))
    primitive = eqn.primitive.name
    grows = 0 if primitive != CONVERT else math.prod(out.shape) * (out.dtype.itemsize - source.dtype.itemsize)
    return Conversion(
        ConversionStage.JAXPR,
        short(str(source.dtype.name)),
        short(str(out.dtype.name)),
        change(short(str(source.dtype.name)), short(str(out.dtype.name))),
        tuple(out.shape),
        weak,
        runs,
        grows,
        None,
        Origin.PROGRAM,
        primitive,
        tuple(names),
        bool(eqn.params.get("weak_type")) and not weak,
        line_of(eqn),
    )


def change(before: str, after: str) -> Change:
    """What a conversion between two dtypes, given by their short names, is.

    Floats and integers are kinds of their own, signed or not; a complex number is a larger float.
    """
    (kind, bits), (other, more) = _kind(before), _kind(after)
    if kind != other or bits == more:
        return Change.CHANGE
    return Change.PROMOTION if more > bits else Change.DEMOTION


def _kind(dtype: str) -> tuple[str, int]:
    """("float", 16) of "bf16"."""
    match = _SHORT_NAME.match(dtype)
    return (_KINDS[match[1]], int(match[2])) if match else (dtype, 0)


def of_hlo(module: Module, places: Places) -> Iterator[Conversion]:
    """The conversions of an optimised module."""
    loops = executions.count(module)
    written = _written_rows(module)
    for row in module.rows(b"convert").tolist():
        computation, source = int(module.computation[row]), module.operands[row][0]
        if not loops.times[computation] or source < 0 or _type(module, source) == _type(module, row):
            continue
        before, after = int(module.shapes.bytes[source]), int(module.shapes.bytes[row])
        scope = module.scopes[module.scope[row]] if module.scope[row] >= 0 else ""
        primitive = scope.rsplit("/", 1)[-1]
        yield Conversion(
            ConversionStage.HLO,
            _type(module, source),
            _type(module, row),
            change(_type(module, source), _type(module, row)),
            tuple(module.shapes.sizes(row)),
            False,
            None if loops.unknown[computation] else float(loops.times[computation]),
            after - before,
            after if written[row] else 0,
            Origin.PROGRAM if primitive == CONVERT else Origin.COMPILER,
            primitive,
            (),
            False,
            places.line[row],
            int(places.row[row]),
        )


def _written_rows(module: Module) -> npt.NDArray[np.bool_]:
    """Whether each instruction's result goes to memory: all but those inside a fusion that are none of its results."""
    caller = np.full(len(module.computations), -1, np.int64)
    owner, called = module.called.owner, module.called.values
    fuses = (module.opcode[owner] == b"fusion") & (called >= 0)
    caller[called[fuses]] = owner[fuses]
    written = caller[module.computation] < 0
    todo = [int(module.roots[inner]) for inner in called[fuses & written[owner]].tolist()]
    while todo:
        row = todo.pop()
        written[row] = True
        if module.opcode[row] == b"tuple":
            todo += [operand for operand in module.operands[row] if operand >= 0]
        elif module.opcode[row] in _SAME_BYTES:
            todo += module.operands[row][:1]
        elif module.opcode[row] == b"dynamic-update-slice":
            todo += module.operands[row][1:2]
        elif module.opcode[row] == b"fusion":
            todo += [int(module.roots[inner]) for inner in module.called[row]]
    return written


def _type(module: Module, row: int) -> str:
    name, _ = shapes.TYPES.get(int(module.shapes.element_type[row]), ("unknown", 0))
    return short(name)
