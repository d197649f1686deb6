"""Operations that have a cheaper form: inverses of products, sorts for a few elements, cumulative sums."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from jaxstage_ext.analysis.dtypes.conversions import short
from jaxstage_ext.core.rewrites import cumulative_scans, inverse_products, replacements, sorted_ends
from jaxstage_ext.core.rewrites.replacements import Form, Replacement, ReplacementSite
from jaxstage_ext.findings import staged_changes, stakes
from jaxstage_ext.findings.compute import compute_finding_wording as wording
from jaxstage_ext.findings.compute import jacobian_mode
from jaxstage_ext.findings.compute.equation_places import EquationPlaces
from jaxstage_ext.findings.detector import Detector, is_compiled
from jaxstage_ext.findings.finding import Certainty, CodeChange, Finding, Stake, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.program.device import program_devices
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.module_work import work
from jaxstage_ext.report.progress import Progress

_LEAST_FLOPS, _LEAST_SORTED = 1e8, 65_536
"""Below which neither form takes long: an inverse of 368 x 368, and a sort of some milliseconds on a CPU.

For a TPU XLA makes top_k of one row a sort again.
"""


def find(program: Program, progress: Progress | None = None) -> list[Finding]:
    """One finding for each line that has such operations."""
    if program.jax_traced is None:
        return []
    return [
        *jacobian_mode.find(program),
        *_of_form(program, inverse_products.FORM, _inverse),
        *_of_form(program, sorted_ends.FORM, _sorted),
        *(_of_form(program, cumulative_scans.FORM, _cumulative) if program.platform == "cpu" else []),
    ]


_Made = Callable[[Program, Sequence[ReplacementSite], str], Finding | None]


def _of_form(program: Program, form: Form, finding: _Made) -> Iterator[Finding]:
    sites = replacements.sites(program.jax_traced.jaxpr.jaxpr, form)
    places, by_line = EquationPlaces(program) if sites else None, dict[str, list[ReplacementSite]]()
    for site in sites:
        assert places is not None
        by_line.setdefault(places.line(site.replacement.source), []).append(site)
    made = (finding(program, of_line, line) for line, of_line in by_line.items())
    return (one for one in made if one is not None)


def _inverse(program: Program, sites: Sequence[ReplacementSite], line: str) -> Finding | None:
    each = {id(site.replacement.source): site for site in sites}
    flops = sum(inverse_products.flops_saved(site.replacement) * (site.runs or 1) for site in each.values())
    if flops < _LEAST_FLOPS:
        return None
    size = sites[0].replacement.source.invars[0].aval.shape[0]
    text, code = wording.inverse_of_product(size, len(sites)), wording.solve("A")
    exact = stakes.stake(program, StakeMeasure.FLOPS, flops / program_devices.device_count(program), 0.0)
    stake = exact if program.platform != "tpu" else _of_line(program, line)  # its solutions take more than 2 n**3
    return _finding(text, stake, line, code, inverse_products.FORM, wording.NOT_THE_SAME_BITS)


def _sorted(program: Program, sites: Sequence[ReplacementSite], line: str) -> Finding | None:
    first: Replacement = sites[0].replacement
    shape = first.source.invars[0].aval.shape
    if math.prod(shape) * (sites[0].runs or 1) < _LEAST_SORTED or (program.platform == "tpu" and len(shape) == 1):
        return None
    read = sorted_ends.count_read(first)
    text, code = wording.sorted_for_few(shape[-1], read.elements), wording.top_k(read.elements, read.is_last)
    return _finding(text, _of_line(program, line), line, code, sorted_ends.FORM, wording.TIES)


def _cumulative(program: Program, sites: Sequence[ReplacementSite], line: str) -> Finding | None:
    eqn = sites[0].replacement.equation
    aval, axis = eqn.invars[0].aval, eqn.params["axis"]
    shape = f"{short(str(aval.dtype))}[{','.join(map(str, aval.shape))}]"
    text = wording.cumulative(eqn.primitive.name, shape, axis)
    stake = _of_line(program, line)
    code = wording.as_scan(eqn.primitive.name, axis)
    return _finding(text, stake, line, code, cumulative_scans.FORM, wording.NOT_THE_SAME_BITS)


def _of_line(program: Program, line: str) -> Stake:
    """At most what the line takes now; of bytes a scan moves no fewer, but those of its carry stay in the cache."""
    columns = work(program).by("line").columns
    of_line = np.array([one == line for one in columns["line"].values], bool)
    flops = float(np.nansum(np.asarray(columns["FLOPs"].values, float)[of_line]))
    return stakes.stake(program, StakeMeasure.FLOPS, flops or None, 0.0)


def _finding(text: str, stake: Stake, line: str, code: str, form: Form, caveat: str) -> Finding:
    return Finding(
        FindingKind.CHEAPER_FORM,
        text,
        stake,
        line=line,
        change=CodeChange(code, stage=staged_changes.of_jaxpr(functools.partial(replacements.replaced, form=form))),
        certainty=Certainty.ESTIMATED,
        caveat=caveat,
        tab="cost",
    )


DETECTOR = Detector(FindingKind.CHEAPER_FORM, find, is_compiled)
