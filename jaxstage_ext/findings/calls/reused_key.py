"""Random keys that a program uses twice, so that what should be independent is the same."""

from __future__ import annotations

from typing import Any

from jaxstage_ext.core.jax_private import reused_keys
from jaxstage_ext.core.jax_private.reused_keys import KeyReuse
from jaxstage_ext.findings import equation_place
from jaxstage_ext.findings.calls import calls_finding_wording as wording
from jaxstage_ext.findings.detector import Detector, is_traced
from jaxstage_ext.findings.finding import Certainty, CodeChange, Finding, Stake, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.progress import Progress


def find(program: Program, progress: Progress | None = None) -> list[Finding]:
    """One finding for each reuse at a line of the user's."""
    found = [_finding(program, reuse) for reuse in reused_keys.reused_keys(program.jax_traced.jaxpr)]
    return [one for one in found if one.line]


def _finding(program: Program, reuse: KeyReuse) -> Finding:
    where = "" if reuse.earlier is None else equation_place.place(program, reuse.earlier).label
    use, earlier = _called(reuse.eqn), _called(reuse.earlier)
    return Finding(
        FindingKind.REUSED_KEY,
        wording.reused_key(reuse.argument, use, earlier, where),
        Stake(StakeMeasure.RESULT),
        line=equation_place.place(program, reuse.eqn).label,
        names=(reuse.argument,) if reuse.argument else (),
        change=CodeChange(wording.split_key(reuse.argument, use, reuse.earlier is None)),
        certainty=Certainty.COUNTED,
        caveat=wording.SAME_IS_MEANT,
        tab="code",
    )


def _called(eqn: Any) -> str:
    """What uses the key, as `jax.random` calls it: "normal", "split"; "" for no equation."""
    if eqn is None:
        return ""
    name = str(eqn.params.get("name") or eqn.primitive.name)
    return name.removeprefix("random_").lstrip("_")


DETECTOR = Detector(FindingKind.REUSED_KEY, find, is_traced)
