"""Which instructions are near another: along operands, users, and the calls that hold it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from jaxstage_ext.ir.hlo.module import Module


class Relation(StrEnum):
    """How an instruction is near another."""

    ITSELF = "itself"
    OPERAND = "operand"
    USER = "user"
    CALLER = "caller"
    INSIDE = "inside"


@dataclass(frozen=True)
class Neighbour:
    """An instruction, how it is near, and over how many hops."""

    row: int
    relation: Relation
    hops: int


def neighbours(module: Module, row: int, hops: int, most: int) -> tuple[list[Neighbour], int]:
    """The nearest instructions first, at most so many, and how many more there are.

    Values flow along operands and users; the instruction that runs the computation, and the results of what it runs
    itself, are one hop away.
    """
    found = [Neighbour(row, Relation.ITSELF, 0)]
    seen, edges = {row}, {Relation.OPERAND: [row], Relation.USER: [row]}
    for hop in range(1, hops + 1):
        for relation, edge in edges.items():
            step = _operands(module, edge) if relation is Relation.OPERAND else _users(module, edge)
            edges[relation] = [one for one in dict.fromkeys(step) if one not in seen]
            seen.update(edges[relation])
            found += [Neighbour(one, relation, hop) for one in edges[relation]]
        if hop == 1:
            around = [(Relation.CALLER, one) for one in _callers(module, row)]
            around += [(Relation.INSIDE, one) for one in _inside(module, row)]
            found += [Neighbour(one, relation, 1) for relation, one in around if one not in seen]
            seen.update(one for _, one in around)
    return found[:most], max(0, len(found) - most)


def users(module: Module, row: int) -> list[int]:
    """The instructions that read the result of one."""
    return [*_users(module, [row])]


def _operands(module: Module, rows: Iterable[int]) -> Iterator[int]:
    return (one for row in rows for one in module.operands[row] if one >= 0)


def _users(module: Module, rows: list[int]) -> Iterator[int]:
    reads = np.isin(module.operands.values, np.array(rows, np.int64))
    return iter(np.unique(module.operands.owner[reads]).tolist())


def _callers(module: Module, row: int) -> list[int]:
    calls = module.called.values == module.computation[row]
    return [int(one) for one in np.unique(module.called.owner[calls])]


def _inside(module: Module, row: int) -> list[int]:
    """The results of the computations that it runs."""
    return [int(module.roots[called]) for called in module.called[row] if called >= 0 and module.roots[called] >= 0]
