"""One call on several targets, side by side: does it fit, what does it cost, as far as each compiler tells.

All figures are of one device, and a loop's body counts once in those that are counted on the HLO.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from jaxstage_ext.core import stage_list
from jaxstage_ext.core.staged import COMPILE
from jaxstage_ext.core.targets.devices import CATALOGUE, memory_of
from jaxstage_ext.core.targets.target import Target
from jaxstage_ext.ir.hlo import module as hlo
from jaxstage_ext.ir.hlo import totals
from jaxstage_ext.program.fact import fact
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.target_title import platform
from jaxstage_ext.program.xla_analyses import Analyses
from jaxstage_ext.report.errors import StageError
from jaxstage_ext.report.units import scaled

BEST, WORST = "best", "worst"
_LOOPS = "a loop's body counts once"


@dataclass(frozen=True)
class Cell:
    """One figure. `value` is None where it is not known, and `reason` says why; `mark` is "best", "worst" or ""."""

    value: float | bool | None
    text: str
    reason: str | None = None
    note: str | None = None
    mark: str = ""


@dataclass(frozen=True)
class Column:
    """`lower` is whether less is better; None where more or less says nothing, and nothing is marked."""

    name: str
    title: str
    hint: str
    lower: bool | None = None


COLUMNS = (
    Column("fits", "fits", "whether XLA's peak memory is within what one device has, by its maker"),
    Column("memory", "peak memory", "XLA's peak of one device", True),
    Column("capacity", "capacity", "memory of one device, by its maker"),
    Column("flops", "FLOPs", f"XLA's cost analysis of one device's program; {_LOOPS}"),
    Column("bytes", "bytes accessed", f"XLA's cost analysis of one device's program; {_LOOPS}", True),
    Column("fusions", "fusions", "fusion instructions of the optimised HLO"),
    Column("kernels", "kernels", f"instructions that launch a kernel; copies and collectives left out, {_LOOPS}", True),
    Column("collectives", "collectives", f"instructions that exchange data between devices; {_LOOPS}", True),
    Column(
        "exchanged",
        "exchanged",
        f"bytes that one device hands to collectives, of an all-gather those that it gets; {_LOOPS}",
        True,
    ),
    Column("time", "compiler's estimate", f"optimal_seconds of XLA's cost analysis, not measured; {_LOOPS}", True),
    Column("cycles", "estimated cycles", f"the TPU compiler's estimates, collectives left out; {_LOOPS}"),
    Column("compile", "compile time", "seconds that XLA took here, not what the target would take", True),
)
"""The figures of a row, in the order in which they are shown."""


@dataclass(frozen=True)
class Row:
    """One target: its name, what that is, its figures by column, and the error in one line where a stage failed."""

    target: str
    device: str
    cells: Mapping[str, Cell]
    error: str | None = None


@dataclass(frozen=True)
class Table:
    """The targets of one call, in the order in which they were given."""

    name: str
    rows: tuple[Row, ...]
    columns: tuple[Column, ...] = field(default=COLUMNS, repr=False)

    def to_pandas(self) -> Any:
        """A pandas DataFrame, one row a target; unknown figures are missing. Raises ImportError without pandas."""
        import pandas as pd  # type: ignore[import-untyped, unused-ignore]

        values: list[dict[str, Any]] = [
            {name: cell.value for name, cell in row.cells.items()} | {"error": row.error} for row in self.rows
        ]
        return pd.DataFrame(values, index=pd.Index([row.target for row in self.rows], name="target"))

    def to_dict(self) -> dict[str, Any]:
        """The table as plain JSON types; `from_dict` reads it."""
        return {
            "name": self.name,
            "columns": [asdict(column) for column in self.columns],
            "rows": [asdict(row) | {"cells": {name: _plain(c) for name, c in row.cells.items()}} for row in self.rows],
        }

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Table:
        """The Table of a `to_dict`. Raises KeyError or TypeError for anything else."""
        rows = tuple(
            Row(row["target"], row["device"], {name: Cell(**cell) for name, cell in row["cells"].items()}, row["error"])
            for row in data["rows"]
        )
        return Table(data["name"], rows, tuple(Column(**column) for column in data["columns"]))


def _plain(cell: Cell) -> dict[str, Any]:
    return {name: value for name, value in asdict(cell).items() if value not in (None, "") or name == "value"}


def comparison(program: Program) -> Table:
    """The call's targets side by side, one a row; what has not ended yet is said to be so.

    Raises ValueError where a saved program holds no comparison that can be read.
    """
    if program.saved_comparison is not None:
        try:
            return Table.from_dict(program.saved_comparison)
        except (KeyError, TypeError):
            raise ValueError("the saved inspection holds no comparison that can be read; inspect it anew") from None
    return Table(program.name, marked([row(target) for target in program.targets.values()]))


def row(program: Program) -> Row:
    """The figures of one target, computed once its stages have ended."""
    return _final_row(program) if program.has_ended else _row(program)


@fact
def _final_row(program: Program) -> Row:
    return _row(program)


def marked(rows: Sequence[Row]) -> tuple[Row, ...]:
    """The rows with the best and the worst of each column marked, where known values differ as shown."""
    cells = [dict(row.cells) for row in rows]
    for column in COLUMNS:
        known = {
            i: float(cell.value)
            for i, one in enumerate(cells)
            if (cell := one[column.name]).value is not None and _comparable(column.name, rows[i])
        }
        if column.lower is None or len({cells[i][column.name].text for i in known}) < 2:
            continue
        best, worst = min(known.values()), max(known.values())
        for i, value in known.items():
            mark = BEST if value == best else WORST if value == worst else ""
            cells[i][column.name] = replace(cells[i][column.name], mark=mark)
    return tuple(replace(row, cells=found) for row, found in zip(rows, cells, strict=True))


def _comparable(name: str, row: Row) -> bool:
    """XLA leaves temporaries out of a CPU's peak, so it is not held against others."""
    return not (name == "memory" and row.device.startswith("cpu"))


def _row(program: Program) -> Row:
    target, error = program.target, program.error
    if program.executable is None:
        reason = _why_none(program)
        cells = {column.name: _unknown(reason) for column in COLUMNS}
        cells["capacity"] = _capacity(target)
        return Row(str(target), _device(program), cells, _in_one_line(error) if error else None)
    analyses = program.analyses
    columns: dict[str, Callable[[], Cell]] = {
        "memory": lambda: _bytes(*analyses.peak),
        "capacity": lambda: _capacity(target),
        "flops": lambda: _cost(analyses, "flops", "FLOP"),
        "bytes": lambda: _cost(analyses, "bytes accessed", "B"),
        "time": lambda: _time(analyses),
        "compile": lambda: _seconds(program.seconds.get(COMPILE)),
        **_counted(program),
    }
    cells = {name: read() for name, read in columns.items()}
    cells["fits"] = _fits(cells["memory"], cells["capacity"])
    return Row(str(target), _device(program), {column.name: cells[column.name] for column in COLUMNS})


def _in_one_line(error: StageError) -> str:
    first = (error.message.strip().splitlines() or [""])[0]
    return f"{error.stage} failed: {error.type}: {first}"[:300]


def _why_none(program: Program) -> str:
    if program.error is not None:
        return f"{program.error.stage} failed"
    if not stage_list.makes_executable(program.stage):
        return f"this was not compiled: %{program.stage} stops before"
    return "not compiled yet"


def _device(program: Program) -> str:
    target = program.target
    if target.kind:
        return f"{CATALOGUE[target.kind].title}, {target.size}"
    return platform(program) + (f", {target.size}" if target.size else "")


def _unknown(reason: str) -> Cell:
    return Cell(None, "unknown", reason)


def _number(value: float, note: str | None = None) -> Cell:
    return Cell(value, f"{value:,}", note=note)


def _bytes(value: float | None, reason: str | None, note: str | None = None) -> Cell:
    return _unknown(reason or "") if value is None else Cell(value, scaled(value, "B"), note=note)


def _seconds(value: float | None) -> Cell:
    if value is None:
        return _unknown("JAX tells no time")
    return Cell(value, scaled(value, "s"))


def _capacity(target: Target) -> Cell:
    reason = "this kernel's own device" if target.is_local else "a CPU's memory is the machine's"
    return _bytes(memory_of(target), f"{reason}; the catalogue has none" if not target.kind else "its maker gives none")


def _fits(memory: Cell, capacity: Cell) -> Cell:
    for title, cell in (("peak memory", memory), ("capacity", capacity)):
        if cell.value is None:
            return _unknown(f"{title} is unknown: {cell.reason}")
    share = (memory.value or 0) / (capacity.value or 1)
    told = f"{share:.1%}" if share <= 1 else f"{share:.3g} times"
    return Cell(share <= 1, "yes" if share <= 1 else "no", note=f"{told} of the memory")


def _cost(found: Analyses, key: str, unit: str) -> Cell:
    value, reason = found.cost(key)
    return _unknown(reason) if value is None else Cell(value, scaled(value, unit))


def _time(found: Analyses) -> Cell:
    if found.costs is not None and "optimal_seconds" not in found.costs:
        return _unknown("this compiler estimates no time")
    value, reason = found.cost("optimal_seconds")
    if found.costs is not None and not value:
        return _unknown("the compiler leaves its estimate open for a part of the program")
    return _unknown(reason) if value is None else Cell(value, scaled(value, "s"))


def _counted(program: Program) -> dict[str, Callable[[], Cell]]:
    """What is counted on the optimised HLO."""
    names = ("fusions", "kernels", "collectives", "exchanged", "cycles")
    if "hlo" not in program.documents:
        return {name: lambda: _unknown("the compiler gives no optimised HLO") for name in names}
    module = program.module
    found = totals.collectives(module)
    kinds = ", ".join(f"{one.count} {one.kind}" for one in found) or None
    return {
        "fusions": lambda: _number(module.fusions),
        "kernels": lambda: _kernels(program, module),
        "collectives": lambda: _number(sum(one.count for one in found), kinds),
        "exchanged": lambda: _exchanged(found),
        "cycles": lambda: _cycles(module),
    }


def _kernels(program: Program, module: hlo.Module) -> Cell:
    where = platform(program)
    if where == "gpu":
        return _number(totals.kernels(module), "a library call counts as one and may launch several")
    return _unknown("a TPU runs one program, not kernels" if where == "tpu" else "the HLO of a CPU does not tell")


def _exchanged(found: Sequence[totals.Collective]) -> Cell:
    sizes = [one.bytes for one in found]
    if None in sizes:
        return _unknown("a collective has a type whose size is not known")
    kinds = ", ".join(f"{one.kind} {scaled(one.bytes or 0, 'B')}" for one in found) or None
    return _bytes(sum(size or 0 for size in sizes), None, kinds)


def _cycles(module: hlo.Module) -> Cell:
    cycles = totals.estimated_cycles(module)
    return _unknown("this compiler estimates no cycles") if cycles is None else _number(cycles)
