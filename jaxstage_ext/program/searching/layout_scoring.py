"""Layouts of a program scored: partitioned in workers of ours or of the user's executor, estimated here."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any

from jaxstage_ext.core.jax_private import lowered_modules
from jaxstage_ext.core.layout.elsewhere import partition_elsewhere
from jaxstage_ext.core.layout.partitioner import BATCH
from jaxstage_ext.ir.partitioning.module_layout import ModuleLayout
from jaxstage_ext.ir.partitioning.partitioned_module import PartitionedModule
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.partitioned import SearchableProgram
from jaxstage_ext.search.layout_score import LayoutScorer, ScoringDevice
from jaxstage_ext.search.layout_specs import LayoutSpecs
from jaxstage_ext.search.scoring_tasks import Scored, Scoring

_TASKS_OF_A_BATCH = 4
"""What is under way when a budget is spent goes on, so that a task is a fraction of a second's work."""


def module_layout(specs: LayoutSpecs) -> ModuleLayout:
    """What the partitioner takes."""
    results = None if all(spec is None for spec in specs.results) else specs.results
    return ModuleLayout(dict(specs.mesh), specs.arguments, results)


def layout_scoring(
    program: Program, searchable: SearchableProgram, device: ScoringDevice, executor: Executor | None
) -> Scoring:
    """How layouts of a program are scored by an executor; None is our own, whose threads wait for our workers."""
    scorer = LayoutScorer(searchable.module, device)

    def read(layouts: Sequence[LayoutSpecs], answers: Any) -> list[Scored]:
        return [scorer.estimate(one) if isinstance(one, PartitionedModule) else one for one in answers]

    at_once = max(BATCH // (_TASKS_OF_A_BATCH * max(len(searchable.module.ops), 1)), 1)
    if executor is None or isinstance(executor, ThreadPoolExecutor):
        return Scoring(functools.partial(_here, searchable), read, at_once)
    module = lowered_modules.module_bytecode(program.jax_lowered)
    return Scoring(functools.partial(_elsewhere, module, not searchable.explicit), read, at_once)


def _here(searchable: SearchableProgram, layouts: Sequence[LayoutSpecs]) -> Any:
    return searchable.partitioner.partition([module_layout(specs) for specs in layouts])


def _elsewhere(module: bytes, with_constraints: bool, layouts: Sequence[LayoutSpecs]) -> Any:
    return partition_elsewhere(module, with_constraints, [module_layout(specs) for specs in layouts])
