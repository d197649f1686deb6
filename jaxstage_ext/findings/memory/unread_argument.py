"""Arguments of which a part is never read: rows of an array, or all keys of a batch but the first."""

from __future__ import annotations

import math

import numpy as np

from jaxstage_ext.analysis.memory import entry_values
from jaxstage_ext.analysis.memory.read_slices import Readers, ReadSlices
from jaxstage_ext.core.jax_private import random_keys
from jaxstage_ext.findings import code_change, equation_place, stakes
from jaxstage_ext.findings.detector import Detector
from jaxstage_ext.findings.finding import Certainty, Finding, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.findings.memory import memory_finding_wording as wording
from jaxstage_ext.findings.memory.entry_by_module import module_values
from jaxstage_ext.findings.memory.missing_donation import applies
from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions import memory
from jaxstage_ext.program.questions.refused_shardings import argument_names
from jaxstage_ext.program.source.instruction_places import instruction_places
from jaxstage_ext.report.progress import Progress

LEAST = 1 << 20
"""Bytes that nothing reads, below which they are not worth telling."""
_MOSTLY = 0.5
"""Of an argument, what has to be unread."""
_MOST = 64
"""Arguments that are looked at, the largest first."""


def find(program: Program, progress: Progress | None = None) -> list[Finding]:
    """Those that take memory in vain, and keys of a batch that change nothing."""
    return [*_keys(program), *_rows(program)]


def _rows(program: Program) -> list[Finding]:
    module, entry = program.module, memory.entry(program)
    if entry is None:
        return []
    rows, _ = entry_values.parameter_arrays(module)
    if len(np.unique(rows)) < len(rows):  # XLA is given one tuple
        return []
    arguments, _ = module_values(program)
    sizes = np.array([argument.size or 0 for argument in arguments], np.int64)
    large = np.flatnonzero(sizes >= LEAST)
    if not len(large):
        return []
    readers, places, found = Readers(module), instruction_places(program), []
    for at in large[np.argsort(-sizes[large])][:_MOST].tolist():
        row = int(rows[at + entry.tokens])
        read = readers.of(row)
        share = _unread(module, row, read)
        if read.whole or share < _MOSTLY or share * sizes[at] < LEAST:
            continue
        line = next((places.line[each] for each in read.readers if places.line[each]), "")
        found.append(
            Finding(
                FindingKind.UNREAD_ARGUMENT,
                wording.unread(arguments[at].name, share, int(share * sizes[at])),
                stakes.exactly(program, StakeMeasure.MEMORY, float(share * sizes[at])),
                line=line,
                names=(arguments[at].name,),
                rows={"hlo": tuple(int(places.row[each]) for each in read.readers[:8])},
                change=code_change.change(wording.pass_what_is_read(arguments[at].name), ""),
                certainty=Certainty.COUNTED,
                tab="memory",
            )
        )
    return found


def _unread(module: Module, row: int, read: ReadSlices) -> float:
    return 1 - read.elements / max(int(module.shapes.elements[row]), 1)


def _keys(program: Program) -> list[Finding]:
    """Batches of keys that an equation draws from at once, though its generator reads the first alone."""
    jaxpr = program.jax_traced.jaxpr.jaxpr
    given = jaxpr.debug_info.arg_names or ()
    names = argument_names(program.call, list(given)) if len(given) == len(jaxpr.invars) else []
    drawn = dict(random_keys.drawn_from_first(jaxpr, jaxpr.invars))
    found = []
    for at, var in enumerate(jaxpr.invars):
        if var not in drawn:
            continue
        name, count = names[at] if at < len(names) else wording.A_BATCH, math.prod(var.aval.shape)
        found.append(
            Finding(
                FindingKind.UNREAD_ARGUMENT,
                wording.first_key_alone(name, count, random_keys.generator(var)),
                stakes.stake(program, StakeMeasure.RESULT, None),
                line=equation_place.place(program, drawn[var]).label,
                names=(name,),
                change=code_change.change(wording.keys_of_their_own(name, count), ""),
                certainty=Certainty.COUNTED,
                tab="answers",
            )
        )
    return found


DETECTOR = Detector(FindingKind.UNREAD_ARGUMENT, find, applies)
