"""Temporary arrays that fill the memory of the device, in a program that no other finding helps to fit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from jaxstage_ext.core.call import Call
from jaxstage_ext.core.derivative.rematerialization import BACKWARD
from jaxstage_ext.core.jax_private import mapped_vmap
from jaxstage_ext.core.stage.staged import Staged
from jaxstage_ext.findings import staged_changes, stakes
from jaxstage_ext.findings.detector import Detector, is_compiled
from jaxstage_ext.findings.finding import Certainty, CodeChange, Finding, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.findings.memory import memory_finding_wording as wording
from jaxstage_ext.findings.memory import residual_memory, whole_intermediate
from jaxstage_ext.program.device.device_fit import device_fit
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.largest_array import LargestArray, largest_array
from jaxstage_ext.report.progress import Progress

_FULL, _MOSTLY, _LARGE = 0.5, 0.5, 0.1
"""Of the device's memory, what the program needs; of that the temporaries; of these the largest array."""
_LONG = 1024
"""Positions of a sequence from which on the scores of attention are larger than what they are made of."""
_VMAP = "vmap("


def find(program: Program, progress: Progress | None = None) -> list[Finding]:
    """One finding for the largest of them."""
    fit, temporaries = device_fit(program), stakes.temporaries(program)
    if fit.needed is None or not fit.room or temporaries is None:
        return []
    if fit.needed < _FULL * fit.room or temporaries < _MOSTLY * fit.needed:
        return []
    if residual_memory.find(program) or (whole_intermediate.applies(program) and whole_intermediate.find(program)):
        return []
    module, array = program.module, largest_array(program)
    if array is None or array.size < _LARGE * temporaries:
        return []
    scope = module.scopes[module.scope[array.instruction]] if module.scope[array.instruction] >= 0 else ""
    change, most, caveat = _change(program, array, scope, fit.needed / fit.room, temporaries)
    return [
        Finding(
            FindingKind.LARGE_TEMPORARIES,
            wording.large_temporaries(array.shape, array.size, temporaries, fit.needed / fit.room),
            stakes.stake(program, StakeMeasure.MEMORY, most, 0.0),
            line=array.line,
            rows={"hlo": (array.row,)},
            change=change,
            certainty=Certainty.ESTIMATED,
            caveat=caveat,
            tab="memory",
        )
    ]


def _change(
    program: Program, array: LargestArray, scope: str, part: float, most: float
) -> tuple[CodeChange, float, str]:
    """What to do, what it saves at most, and its price: by what made the array."""
    if _is_of_attention(array):
        return CodeChange(wording.attention(program.platform)), most, ""
    if _VMAP in scope and BACKWARD not in scope and array.sizes:
        batch = _batch(array.sizes[0], part)
        return CodeChange(wording.map_in_batches(batch), stage=_stage(program, batch)), most, wording.IN_BATCHES
    if BACKWARD in scope or "jvp(" in scope:
        return CodeChange(wording.RECOMPUTE_OR_SPLIT), most, wording.FORWARD_TWICE
    return CodeChange(wording.IN_PARTS), most, ""


def _is_of_attention(array: LargestArray) -> bool:
    return len(array.sizes) >= 3 and array.sizes[-1] == array.sizes[-2] >= _LONG


def _batch(count: int, part: float) -> int:
    """Elements of which a quarter of the memory holds the temporaries."""
    return max(1, 1 << int(np.log2(max(1.0, 0.25 * count / part))))


def _stage(program: Program, batch: int) -> Callable[[Staged], Staged] | None:
    if mapped_vmap.mapped(program.call, batch) is None:
        return None

    def changed(call: Call) -> Call:
        return mapped_vmap.mapped(call, batch) or call

    return staged_changes.of_call(changed)


DETECTOR = Detector(FindingKind.LARGE_TEMPORARIES, find, is_compiled)
