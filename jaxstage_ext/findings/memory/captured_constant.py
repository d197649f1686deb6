"""Arrays that a function closes over, so that XLA compiles their values into the program."""

from __future__ import annotations

import numpy as np

from jaxstage_ext.core.inputs import captured
from jaxstage_ext.findings import stakes
from jaxstage_ext.findings.detector import Detector, is_traced
from jaxstage_ext.findings.finding import Certainty, CodeChange, Finding, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.findings.memory import memory_finding_wording as wording
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.progress import Progress

LEAST = 65_536
"""Bytes below which a constant is not worth an argument."""


def find(program: Program, progress: Progress | None = None) -> list[Finding]:
    """One finding for all captured arrays of some size, named as the function reaches them."""
    constants = [one for one in program.jax_traced.jaxpr.consts if hasattr(one, "dtype")]
    sizes = [int(np.size(one)) * int(getattr(one.dtype, "itemsize", 0)) for one in constants]
    large = [(one, size) for one, size in zip(constants, sizes, strict=True) if size >= LEAST]
    if not large:
        return []
    large.sort(key=lambda pair: -pair[1])
    names = tuple(names[0] for names in captured.names(program.call.fn, [one for one, _ in large]) if names)
    total = sum(size for _, size in large)
    return [
        Finding(
            FindingKind.CAPTURED_CONSTANT,
            wording.captured_constants(names, total),
            stakes.stake(program, StakeMeasure.MEMORY, float(total)),
            names=names,
            change=CodeChange(wording.pass_as_argument(names)) if names else None,
            certainty=Certainty.COUNTED,
            tab="memory",
        )
    ]


DETECTOR = Detector(FindingKind.CAPTURED_CONSTANT, find, is_traced)
