"""Products that are computed wider than their operands are, and sums that are kept narrower than they need."""

from __future__ import annotations

from jaxstage_ext.analysis.dtypes.conversions import short
from jaxstage_ext.core.promotion import widened_products
from jaxstage_ext.core.promotion.narrow_sums import NarrowSum, narrow_sums
from jaxstage_ext.core.promotion.widened_products import WidenedProducts
from jaxstage_ext.findings import staged_changes, stakes
from jaxstage_ext.findings.compute import compute_finding_wording as wording
from jaxstage_ext.findings.compute.compute_bound import compute_bound_seconds
from jaxstage_ext.findings.compute.equation_places import EquationPlaces
from jaxstage_ext.findings.detector import Detector, is_traced
from jaxstage_ext.findings.finding import Certainty, CodeChange, Finding, Stake, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.progress import Progress

_LEAST = 1e7
"""FLOPs of such products below which nothing is gained."""


def find(program: Program, progress: Progress | None = None) -> list[Finding]:
    """One finding for all products that compute bounds, on a GPU, as libtpu narrows them itself; one for each sum."""
    jaxpr = program.jax_traced.jaxpr.jaxpr
    sums = [_of_sum(program, one) for one in narrow_sums(jaxpr)]
    if program.platform != "gpu" or not program.has_hlo:
        return sums
    products = WidenedProducts(jaxpr)
    is_worth = sum(products.flops.values()) >= _LEAST
    return [*(_of_products(program, products) if is_worth else ()), *sums]


def _of_products(program: Program, products: WidenedProducts) -> list[Finding]:
    places, equations = EquationPlaces(program), list(products.equations.values())
    seconds = compute_bound_seconds(program, {places.line(eqn) for eqn in equations}, "f32")
    largest = max(products.flops, key=lambda at: products.flops[at])
    if not seconds:
        return []
    return [
        Finding(
            FindingKind.EXCESS_PRECISION,
            wording.widened(len(equations), short(products.narrow[largest])),
            stakes.stake(program, StakeMeasure.TIME, seconds, 0.0),
            line=places.line(products.equations[largest]),
            rows={"jaxpr": places.rows(equations)},
            change=CodeChange(wording.accumulate(), stage=staged_changes.of_jaxpr(widened_products.narrowed)),
            certainty=Certainty.ESTIMATED,
            tab="dtypes",
        )
    ]


def _of_sum(program: Program, found: NarrowSum) -> Finding:
    places = EquationPlaces(program)
    return Finding(
        FindingKind.EXCESS_PRECISION,
        wording.narrow_sum(short(found.dtype), found.steps),
        Stake(StakeMeasure.RESULT),
        line=places.line(found.eqn),
        rows={"jaxpr": places.rows([found.eqn])},
        change=CodeChange(wording.wider_sum()),
        certainty=Certainty.COUNTED,
        tab="dtypes",
    )


DETECTOR = Detector(FindingKind.EXCESS_PRECISION, find, is_traced)
