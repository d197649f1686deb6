"""Functions of which JAX runs an earlier version: a value that they read has changed since they were traced."""

from __future__ import annotations

from dataclasses import replace

import jax

from jaxstage_ext.core.call import Call
from jaxstage_ext.core.inputs.signatures import unwrapped
from jaxstage_ext.core.jax_private import python_nodes, tracing
from jaxstage_ext.core.stage.stageable import code_of
from jaxstage_ext.core.staleness.function_copy import function_copy
from jaxstage_ext.core.staleness.read_lines import read_line
from jaxstage_ext.core.staleness.traced_versions import ITSELF, OldVersion
from jaxstage_ext.findings import staged_changes
from jaxstage_ext.findings.calls import calls_finding_wording as wording
from jaxstage_ext.findings.detector import Detector, is_traced
from jaxstage_ext.findings.finding import Certainty, CodeChange, Finding, Stake, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.source import version_wording
from jaxstage_ext.report.progress import Progress


def find(program: Program, progress: Progress | None = None) -> list[Finding]:
    """One finding for each function of which JAX runs an earlier version."""
    return [_finding(program, version) for version in program.old_versions]


def _finding(program: Program, version: OldVersion) -> Finding:
    names = tuple(changed.name for changed in version.changed if changed.name != ITSELF)
    code, is_of_call = code_of(program.call.fn), _is_of_call(program, version)
    parameters = code.co_varnames[: code.co_argcount] if code is not None and is_of_call else ()
    return Finding(
        FindingKind.STALE_VALUE,
        version_wording.sentence(version),
        Stake(StakeMeasure.RESULT),
        line=_line(program, version, names),
        names=names,
        change=CodeChange(
            wording.pass_values(version.function, parameters, names) if names else wording.CLEAR_CACHES,
            stage=staged_changes.of_call(_traced_anew) if is_of_call and _can_be_jitted_anew(program) else None,
        ),
        certainty=Certainty.COUNTED if version.is_of_trace else Certainty.INFERRED,
        tab="code",
    )


def _line(program: Program, version: OldVersion, names: tuple[str, ...]) -> str:
    place = next((found for name in names if (found := read_line(program.call.fn, name, version.function))), None)
    return "" if place is None else f"{program.frame_table.source(place.file).label}:{place.line}"


def _is_of_call(program: Program, version: OldVersion) -> bool:
    """Whether it is the function of the call, not one that is called in it."""
    code = code_of(program.call.fn)
    return code is not None and (code.co_name, code.co_filename) == (version.function, version.file)


def _can_be_jitted_anew(program: Program) -> bool:
    return python_nodes.is_jitted(program.call.fn) and not tracing.own_shardings(program.call.fn)


def _traced_anew(call: Call) -> Call:
    return replace(call, fn=jax.jit(function_copy(unwrapped(call.fn)), **tracing.jit_options(call.fn)))


DETECTOR = Detector(FindingKind.STALE_VALUE, find, is_traced)
