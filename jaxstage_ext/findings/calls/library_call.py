"""What the jit of a library does in every call with the modules that it is given: flax.nnx and equinox."""

from __future__ import annotations

from jaxstage_ext.core.inputs import library_graphs
from jaxstage_ext.findings import jit_site, stakes
from jaxstage_ext.findings.calls import calls_finding_wording as wording
from jaxstage_ext.findings.finding import Certainty, CodeChange, Finding, Stake, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.findings.jit_site import Jit
from jaxstage_ext.program.head.call_arguments import call_arguments
from jaxstage_ext.program.program import Program

LEAST, _LEAST_OF_NNX = 300e-6, 1e-3
"""Seconds of a call below which Python is not worth another way to call; a small nnx model takes less."""
_MOST_FLOPS = 1e12
"""FLOPs that a device without a roofline, such as a CPU, does in a second at most."""
_HIDDEN = 3
"""How many times as long the device takes at least, so that it is never waiting for Python."""


def find(program: Program) -> list[Finding]:
    """One finding of a call through the jit of a library that spends its time on modules."""
    kind = jit_site.kind(program)
    if kind not in (Jit.NNX, Jit.EQUINOX) or program.call.given is not None:
        return []
    device = _device_seconds(program)
    try:
        made = _of_nnx(program, device) if kind is Jit.NNX else _of_equinox(program, device)
    except Exception:  # of the library's, or of a class of the user's
        return []
    return [] if made is None else [made]


def _of_nnx(program: Program, device: float | None) -> Finding | None:
    call = program.call
    if not library_graphs.has_graphs(call):
        return None
    seconds = library_graphs.nnx_seconds(call)
    if seconds < _LEAST_OF_NNX or not _is_worth(seconds, device):
        return None
    names = _names(program)
    graphs = names[: library_graphs.leading_graphs(call)]
    return _finding(
        wording.traverses(graphs or names, seconds),
        seconds,
        graphs,
        wording.cached_partial(program.name, graphs, names[len(graphs) :]) if graphs else wording.split_once(),
        wording.STRUCTURE_STAYS if graphs else wording.HIDDEN_BY_THE_DEVICE,
    )


def _of_equinox(program: Program, device: float | None) -> Finding | None:
    seconds = library_graphs.equinox_seconds(program.call)
    if not _is_worth(seconds, device):
        return None
    names, modules = _names(program), library_graphs.modules_of_equinox(program.call)
    held = [name for name, is_module in zip(names, modules, strict=False) if is_module]
    if not held:
        return None
    code = wording.arrays_of_modules(program.name, held, names)
    return _finding(wording.flattens_modules(held, seconds), seconds, held, code, wording.HIDDEN_BY_THE_DEVICE)


def _device_seconds(program: Program) -> float | None:
    """Seconds that the device takes at least; None unknown."""
    bound = stakes.figure(program, StakeMeasure.TIME)
    flops = stakes.figure(program, StakeMeasure.FLOPS) if program.has_hlo else None
    return bound if bound is not None else None if flops is None else flops / _MOST_FLOPS


def _is_worth(seconds: float, device: float | None) -> bool:
    return seconds >= LEAST and not (device is not None and device > _HIDDEN * seconds)


def _names(program: Program) -> list[str]:
    return [argument.name for argument in call_arguments(program)]


def _finding(text: str, seconds: float, names: list[str], code: str, caveat: str) -> Finding:
    return Finding(
        FindingKind.PYTHON_CALL,
        text,
        Stake(StakeMeasure.HOST, seconds, None),
        names=tuple(names),
        change=CodeChange(code),
        certainty=Certainty.ESTIMATED,
        caveat=caveat,
    )
