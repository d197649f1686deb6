"""Matrix products that vector units compute, as they are written as a product and a sum."""

from __future__ import annotations

from jaxstage_ext.core.rewrites import written_out_products
from jaxstage_ext.core.rewrites.written_out_products import WrittenOutProduct
from jaxstage_ext.findings import staged_changes, stakes
from jaxstage_ext.findings.compute import compute_finding_wording as wording
from jaxstage_ext.findings.compute.compute_bound import compute_bound_seconds
from jaxstage_ext.findings.compute.equation_places import EquationPlaces
from jaxstage_ext.findings.detector import Detector
from jaxstage_ext.findings.finding import Certainty, CodeChange, Finding, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.progress import Progress

_LEAST = 1e8
"""FLOPs of such products below which nothing is gained."""


def applies(program: Program) -> bool:
    """Whether there is a matrix unit, and a jaxpr to look at."""
    return program.has_hlo and program.platform in ("gpu", "tpu") and program.jax_traced is not None


def find(program: Program, progress: Progress | None = None) -> list[Finding]:
    """One finding for all such products."""
    found = [*written_out_products.written_out_products(program.jax_traced.jaxpr.jaxpr)]
    return _finding(program, found) if sum(one.flops for one in found) >= _LEAST else []


def _finding(program: Program, found: list[WrittenOutProduct]) -> list[Finding]:
    places, largest = EquationPlaces(program), max(found, key=lambda one: one.flops)
    seconds = compute_bound_seconds(
        program, {places.line(eqn) for one in found for eqn in (one.total, one.factors)}, "vector"
    )
    if not seconds:
        return []
    return [
        Finding(
            FindingKind.IDLE_MATRIX_UNIT,
            wording.written_out(len(found), sum(one.flops for one in found)),
            stakes.stake(program, StakeMeasure.TIME, seconds, 0.0),
            line=places.line(largest.total),
            rows={"jaxpr": places.rows(eqn for one in found for eqn in (one.factors, one.total))},
            change=CodeChange(wording.as_dot(), stage=staged_changes.of_jaxpr(written_out_products.with_dots)),
            certainty=Certainty.ESTIMATED,
            caveat=wording.DEFAULT_PRECISION,
            tab="cost",
        )
    ]


DETECTOR = Detector(FindingKind.IDLE_MATRIX_UNIT, find, applies)
