"""The cost of each equation of a jaxpr, before compilation; totals by line, scope, primitive, dtype.

A row is an equation that computes something itself: one that only contains others (jit, scan, custom derivatives) has
no row, and what it contains counts as often as it runs. Bytes are what an equation would move on its own: its operands
read, its results written.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from jaxstage_ext.analysis.cost import cost_wording as wording
from jaxstage_ext.analysis.cost import jaxpr_cost
from jaxstage_ext.analysis.cost.module_cost import Places
from jaxstage_ext.analysis.cost.work_columns import TRANSCENDENTALS, intensity
from jaxstage_ext.report.numbering import numbered
from jaxstage_ext.report.rows.table_rows import RowChoice
from jaxstage_ext.report.table import Column, Table
from jaxstage_ext.report.text.units import scaled

Floats = npt.NDArray[np.float64]
_ADDS_UP = ("FLOPs", "transcendentals", "bytes read", "bytes written")
GROUPS = ("line", "scope", "primitive", "dtype")
_PACKED = {"int4": 4, "uint4": 4, "float4_e2m1fn": 4, "int2": 2, "uint2": 2, "int1": 1, "uint1": 1}
"""Bits of the elements that share a byte; each of these dtypes has an itemsize of 1."""
_SHORT = (("bfloat", "bf"), ("float", "f"), ("uint", "u"), ("int", "s"), ("complex", "c"), ("bool", "pred"))


@dataclass(frozen=True, eq=False)
class Equations:
    """The work of a jaxpr, one entry of each column per equation."""

    primitive: Sequence[str]
    dtype: Sequence[str]
    flops: Floats
    transcendentals: Floats
    read: Floats
    written: Floats
    """`flops`, `transcendentals`, `read`, `written`: of one run."""
    runs: Floats
    """How often it runs; a loop of unknown length counts once."""
    counted_runs: Floats
    """How often it counts in totals: not in a branch of a conditional that has less work than another."""
    unknown: Mapping[int, str]
    """equation -> why its FLOPs are unknown."""
    uncertain: Mapping[int, str]
    """equation -> why `runs` is uncertain."""
    places: Places = field(repr=False)
    """Rows of the jaxpr document, source lines, name scopes."""

    def __len__(self) -> int:
        return len(self.primitive)

    @property
    def moved(self) -> Floats:
        return self.read + self.written

    def total(self, figures: Floats) -> Floats:
        """Figures of one run, such as `flops` and `moved`, over all runs of each equation."""
        return figures * self.runs

    @cached_property
    def total_flops(self) -> float:
        """Known FLOPs; of a conditional, those of the branch of most work."""
        return float(np.nansum(self.flops * self.counted_runs))

    @cached_property
    def order(self) -> npt.NDArray[np.int64]:
        """The equations, those of unknown FLOPs first, then the most FLOPs first."""
        return np.argsort(-np.where(np.isnan(self.flops), np.inf, self.total(self.flops)), kind="stable")

    @cached_property
    def table(self) -> Table:
        """One row per equation, the most FLOPs first."""
        rows = self.order
        columns = {
            "primitive": Column([self.primitive[row] for row in rows]),
            "dtype": Column([self.dtype[row] for row in rows]),
            "FLOPs": Column(
                self.total(self.flops)[rows],
                "FLOP",
                "over all runs, on all devices; a multiply-add counts as two",
            ),
            "transcendentals": Column(self.total(self.transcendentals)[rows], "", TRANSCENDENTALS),
            "bytes read": Column(self.total(self.read)[rows], "B", "operands, if the equation were run alone"),
            "bytes written": Column(self.total(self.written)[rows], "B", "results, if the equation were run alone"),
            "intensity": intensity(self.flops[rows], self.moved[rows]),
            "runs": Column(self.runs[rows], "", "times in one run of the program"),
            "line": Column([self.places.line[row] for row in rows]),
            "scope": Column([self.places.scope[row] for row in rows]),
            "row": Column(self.places.row[rows], "", "row of the jaxpr document"),
        }
        at = {int(row): place for place, row in enumerate(rows)}
        reasons = {(at[row], "FLOPs"): why for row, why in self.unknown.items()}
        reasons |= {(at[row], "runs"): why for row, why in self.uncertain.items()}
        return Table("equations", columns, reasons, self.notes, adds_up=_ADDS_UP)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        notes = []
        if self.unknown:
            primitives = [self.primitive[row] for row in self.unknown]
            notes.append(wording.unknown_equations(len(self.unknown), len(self), primitives))
        counts = Counter(self.uncertain.values())
        return (*notes, *(wording.uncertain(number, why) for why, number in counts.items()))

    def keys(self, group: str) -> tuple[list[str], npt.NDArray[np.int64]]:
        """The names of a group's members, "" unknown, and for each equation which one it belongs to."""
        every = {"line": self.places.line, "scope": self.places.scope, "primitive": self.primitive, "dtype": self.dtype}
        if group not in every:
            raise ValueError(f"unknown group {group!r}; choose one of {', '.join(GROUPS)}")
        return numbered(every[group])

    def by(self, group: str) -> Table:
        """Totals by "line", "scope", "primitive" or "dtype", the most FLOPs first; NaN where none are known."""
        names, place = self.keys(group)
        n = len(names)

        def total(values: Floats) -> Floats:
            return np.bincount(place, np.nan_to_num(values) * self.counted_runs, n)

        count, unknown = np.bincount(place, minlength=n), np.bincount(place, np.isnan(self.flops), n).astype(np.int64)
        never = np.bincount(place, self.counted_runs, n) == 0
        flops = np.where(((unknown == count) & (count > 0)) | never, np.nan, total(self.flops))
        first = np.full(n, -1, np.int64)
        first[place[self.order[::-1]]] = self.places.row[self.order[::-1]]
        columns = {
            group: Column([name or None for name in names]),
            "FLOPs": Column(flops, "FLOP", "known ones only"),
            **{
                name: Column(np.where(never, np.nan, total(values)), unit)
                for name, values, unit in (
                    ("transcendentals", self.transcendentals, ""),
                    ("bytes read", self.read, "B"),
                    ("bytes written", self.written, "B"),
                )
            },
            "equations": Column(count, "", "how many equations it has"),
            "FLOPs unknown": Column(unknown, "", "equations whose FLOPs are unknown"),
            "row": Column(first, "", "row of the jaxpr document, of the equation with the most FLOPs"),
        }
        reasons = {(row, "FLOPs"): wording.UNKNOWN_FOR_ALL for row in np.flatnonzero(np.isnan(flops)).tolist()}
        reasons |= wording.not_counted(never, "FLOPs", "transcendentals", "bytes read", "bytes written")
        reasons |= {(row, group): wording.NOT_RECORDED for row, name in enumerate(names) if not name}
        moved = np.nan_to_num(columns["bytes read"].values) + np.nan_to_num(columns["bytes written"].values)
        order = np.lexsort((-moved, -np.nan_to_num(flops)))
        return Table(f"equations by {group}", columns, reasons, self.notes, adds_up=_ADDS_UP).take(order.tolist())

    def __str__(self) -> str:
        total = f"{'at least ' if self.unknown else ''}{scaled(self.total_flops, 'FLOP')} in the jaxpr, on all devices"
        return f"{total}\n{self.table}"

    __repr__ = __str__

    def to_pandas(self) -> Any:
        """The table as a pandas.DataFrame. Raises ImportError, with the pip line, where pandas is missing."""
        return self.table.to_pandas()

    def to_json(self, **rows: Unpack[RowChoice]) -> str:
        """The table as versioned JSON; with `limit`, `by` or `where`, rows of it, as `Table.to_json` has them."""
        return self.table.to_json(**rows)


def read(jaxpr: Any, places: Any) -> Equations:
    """The cost of a (closed) jaxpr; `places` maps a list of equations to their Places."""
    leaves: dict[int, jaxpr_cost.Leaf] = {}
    counted: dict[int, float] = {}
    for leaf in jaxpr_cost.leaves(jaxpr):
        known = leaves.get(id(leaf.eqn))
        leaves[id(leaf.eqn)] = leaf if known is None else leaf._replace(runs=known.runs + leaf.runs)
        counted[id(leaf.eqn)] = counted.get(id(leaf.eqn), 0.0) + leaf.runs * leaf.counts
    every = list(leaves.values())
    works = [jaxpr_cost.equation(leaf.eqn) for leaf in every]
    unknown = {i: work.unknown[0] for i, work in enumerate(works) if work.unknown}
    counted_runs = np.array(list(counted.values()), np.float64)
    in_branch = [wording.IN_BRANCH if runs else wording.NOT_COUNTED for runs in counted_runs.tolist()]
    uncertain = {i: leaf.why or in_branch[i] for i, leaf in enumerate(every) if leaf.why or leaf.is_branch}
    flops = np.array([math.nan if work.unknown else work.flops for work in works], np.float64)
    return Equations(
        [leaf.eqn.primitive.name for leaf in every],
        [_dtype(leaf.eqn) for leaf in every],
        flops,
        np.array([work.transcendentals for work in works], np.float64),
        np.array([sum(map(_bytes, leaf.eqn.invars)) for leaf in every], np.float64),
        np.array([sum(map(_bytes, leaf.eqn.outvars)) for leaf in every], np.float64),
        np.array([leaf.runs for leaf in every], np.float64),
        counted_runs,
        unknown,
        uncertain,
        places([leaf.eqn for leaf in every]),
    )


def _bytes(var: Any) -> float:
    """Bytes of a variable: 0 for a literal, NaN for an unknown size."""
    shape, dtype = getattr(var.aval, "shape", None), getattr(var.aval, "dtype", None)
    if shape is None or hasattr(var, "val"):
        return 0.0
    size = getattr(dtype, "itemsize", None)
    if size is None or not jaxpr_cost.is_known(shape):
        return math.nan
    packed = _PACKED.get(str(dtype), 8)
    return float(-(-math.prod(shape) * size * packed // 8))


def _dtype(eqn: Any) -> str:
    name = str(getattr(eqn.outvars[0].aval if eqn.outvars else None, "dtype", "") or "")
    return next((re.sub(f"^{long}", short, name) for long, short in _SHORT if name.startswith(long)), name)
