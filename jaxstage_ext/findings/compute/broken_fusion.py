"""Elementwise operations that a barrier of the program's own keeps from being fused."""

from __future__ import annotations

import jax

from jaxstage_ext.core import fusion_barriers
from jaxstage_ext.findings import staged_changes, stakes
from jaxstage_ext.findings.compute import compute_finding_wording as wording
from jaxstage_ext.findings.compute.equation_places import EquationPlaces
from jaxstage_ext.findings.detector import Detector, is_traced
from jaxstage_ext.findings.finding import Certainty, CodeChange, Finding, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.program.device import program_devices
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.progress import Progress

_LEAST = 1 << 20
"""Bytes that go to memory for it, below which nothing is gained."""


def applies(program: Program) -> bool:
    """Whether a barrier is there while XLA fuses: for a CPU it is removed before, until jax 0.11."""
    return is_traced(program) and (program.platform != "cpu" or jax.__version_info__ >= (0, 11))


def find(program: Program, progress: Progress | None = None) -> list[Finding]:
    """One finding for all barriers between operations that would be one fusion."""
    found = [*fusion_barriers.fusion_barriers(program.jax_traced.jaxpr.jaxpr)]
    size = sum(one.size for one in found) / max(1, program_devices.device_count(program) if program.has_hlo else 1)
    if size < _LEAST:
        return []
    places, largest = EquationPlaces(program), max(found, key=lambda one: one.size)
    return [
        Finding(
            FindingKind.BROKEN_FUSION,
            wording.barrier(len(found), size),
            stakes.stake(program, StakeMeasure.MOVED, 2.0 * size, 0.0),
            line=places.line(largest.eqn),
            rows={"jaxpr": places.rows(one.eqn for one in found)},
            change=CodeChange(
                wording.without_barrier(), stage=staged_changes.of_jaxpr(fusion_barriers.without_barriers)
            ),
            certainty=Certainty.ESTIMATED,
            caveat=wording.BARRIER_ON_PURPOSE,
            tab="cost",
        )
    ]


DETECTOR = Detector(FindingKind.BROKEN_FUSION, find, applies)
