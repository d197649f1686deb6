"""A program's module for the partitioner: what of it can be laid out otherwise, and which results follow arguments."""

from __future__ import annotations

from dataclasses import dataclass

from jaxstage_ext.analysis.cost.rules.kernel_calls import TARGETS
from jaxstage_ext.core.inputs import captured
from jaxstage_ext.core.inputs.result_pairs import ResultPair, result_pairs
from jaxstage_ext.core.jax_private import argument_shardings, lowered_modules
from jaxstage_ext.core.layout.partitioner import Partitioner
from jaxstage_ext.ir.partitioning.partitionable_module import PartitionableModule
from jaxstage_ext.program.fact import slow_fact
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions import partitioned_wording as wording
from jaxstage_ext.program.questions.partitioned_wording import NotSearchable
from jaxstage_ext.report.progress import Progress
from jaxstage_ext.report.unavailable import Unavailable

WORKERS = 2
"""Processes that partition at once."""


class Unsearchable(Unavailable):
    """A program whose layouts cannot be searched; `kind` says why."""

    def __init__(self, kind: NotSearchable, what: str = "") -> None:
        super().__init__(wording.reason(kind, what))
        self.kind = kind


@dataclass(frozen=True)
class SearchableProgram:
    """A program that can be partitioned under other layouts."""

    partitioner: Partitioner
    arguments: tuple[str, ...]
    """The path of each of the module's arguments, "state['w']"; "" of a token."""
    results: tuple[str, ...]
    """The path of each of the module's results."""
    leaves: tuple[int | None, ...]
    """Of each of the module's arguments its number among the leaves that the call is given; None of a token."""
    pairs: tuple[ResultPair, ...]
    """Results that take the place of arguments in the next call, as numbers of the module's results and arguments."""
    explicit: bool
    """Whether types hold the layout (explicit axes). Their constraints are left out: a layout is then that of the
    arguments, from which JAX derives the types of all other values."""

    @property
    def module(self) -> PartitionableModule:
        return self.partitioner.module


@slow_fact
def partitioner_of(program: Program, progress: Progress | None) -> SearchableProgram:
    """The program's module, opened for layouts; the shardings that it was given do not matter.

    Raises Unsearchable, and Unavailable where XLA's partitioner does not take it.
    """
    lowered = program.jax_lowered
    if lowered is None:
        raise Unsearchable(NotSearchable.NOT_LOWERED)
    explicit = _is_explicit(program)
    partitioner = Partitioner(lowered_modules.module_bytecode(lowered), WORKERS, with_constraints=not explicit)
    _check(partitioner.module)
    signature = lowered_modules.signature(program.jax_traced, lowered, captured.namer(program.call.fn))
    leaves = [None] * signature.tokens + sorted(signature.kept)
    names = tuple("" if leaf is None else signature.arguments[leaf] for leaf in leaves)
    results = ("",) * signature.tokens + tuple(signature.results)
    return SearchableProgram(
        partitioner, names, results, tuple(leaves), _pairs(partitioner.module, names, results), explicit
    )


def _is_explicit(program: Program) -> bool:
    traced = program.jax_traced
    given = [] if traced is None else argument_shardings.named(traced)
    return any(each is not None and not argument_shardings.is_automatic(each) for each in given)


def _check(module: PartitionableModule) -> None:
    if module.is_manual:
        raise Unsearchable(NotSearchable.SHARD_MAP)
    for op in module.ops:
        if op.target in TARGETS:
            raise Unsearchable(NotSearchable.KERNEL, op.target)
    if not any(size > 1 for value in module.arguments for size in module.values[value].shape):
        raise Unsearchable(NotSearchable.NO_ARRAYS)


def _pairs(module: PartitionableModule, names: tuple[str, ...], results: tuple[str, ...]) -> tuple[ResultPair, ...]:
    sides = []
    for paths, numbers in ((names, module.arguments), (results, module.results)):
        values = [module.values[number] for number in numbers]
        sides.append([(path, (value.shape, value.dtype)) for path, value in zip(paths, values, strict=True)])
    return result_pairs(*sides)
