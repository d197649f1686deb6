"""Arguments that are not donated though a result is their new value, as the state of a training step is."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from inspect import Parameter
from typing import Any

from jaxstage_ext.analysis.memory import memory_advice
from jaxstage_ext.core.derivative import donation
from jaxstage_ext.core.inputs.signatures import signature_of
from jaxstage_ext.core.stage.staged import Staged
from jaxstage_ext.findings import code_change, jit_site, stakes
from jaxstage_ext.findings.detector import Detector
from jaxstage_ext.findings.finding import Certainty, Finding, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.findings.jit_site import Jit
from jaxstage_ext.findings.memory import memory_finding_wording as wording
from jaxstage_ext.findings.memory import new_values
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions import memory
from jaxstage_ext.report.progress import Progress

LEAST = 1 << 20
"""Bytes below which holding them twice is not worth telling."""
_NAMES, _NUMBERS = "donate_argnames", "donate_argnums"
_ELEMENT = re.compile(r"\[(?:\d+|'[^']*'|\"[^\"]*\")\]")


def applies(program: Program) -> bool:
    """Whether JAX traced the call and XLA compiled it, for what it aliases."""
    return program.has_hlo and program.jax_traced is not None


def find(program: Program, progress: Progress | None = None) -> list[Finding]:
    """One finding for all arguments that a result is the new value of."""
    found = new_values.undonated(program)
    size = sum(argument.size or 0 for argument in found)
    if size < LEAST:
        return []
    parameters = _parameters(program)
    names = tuple(dict.fromkeys(_named(parameters, argument.name) for argument in found))
    site = jit_site.find(program)
    code = _code(program, names)
    diff = _diff(program, site, names) if site is not None else ""
    return [
        Finding(
            FindingKind.MISSING_DONATION,
            wording.not_donated(names, size),
            stakes.stake(program, StakeMeasure.MEMORY, float(size)),
            line=jit_site.label(program, site.file, site.line) if site is not None else "",
            names=names,
            change=code_change.change(code, diff, functools.partial(_donated, program, names)),
            certainty=Certainty.ESTIMATED,
            caveat=wording.DONATED_IS_GONE,
            tab="memory",
        )
    ]


def _code(program: Program, names: Sequence[str]) -> str:
    if jit_site.kind(program) is Jit.EQUINOX:
        return wording.donate_in_equinox(_of_equinox(program, names))
    return wording.donate((jit_site.kind(program) or Jit.JAX).value, program.name, _options(program, names))


def _diff(program: Program, site: jit_site.JitSite, names: Sequence[str]) -> str:
    if jit_site.kind(program) is Jit.EQUINOX:
        which = _of_equinox(program, names)
        return jit_site.with_option(program, site, "donate", repr(which)) if which else ""
    if not all(name.isidentifier() for name in names) or jit_site.has_option(site, _NUMBERS):
        return ""
    return jit_site.with_option(program, site, _NAMES, repr(tuple(names)))


def _options(program: Program, names: Sequence[str]) -> dict[str, tuple[str | int, ...]]:
    """What donates them, by option of jax.jit: by name, and by number where one is an element of `*args`."""
    every = _parameters(program)
    place = {root: at for at, root in enumerate(every)}
    roots = {name: memory_advice.parameter(name) for name in names}
    if all(every.get(root) is not Parameter.VAR_POSITIONAL for root in roots.values()):
        return {_NAMES: tuple(name if name == root else _element(name) for name, root in roots.items())}
    by_name = {name for name, root in roots.items() if every.get(root) is Parameter.VAR_KEYWORD}
    numbers = [
        place[root] + (0 if name == root else int(_element(name)))
        for name, root in roots.items()
        if name not in by_name
    ]
    named = tuple(_element(name) for name in roots if name in by_name)
    return {_NUMBERS: tuple(numbers), **({_NAMES: named} if named else {})}


def _parameters(program: Program) -> dict[str, Any]:
    try:
        return {name: each.kind for name, each in signature_of(program.call.fn).parameters.items()}
    except ValueError:
        return {}


def _named(parameters: Mapping[str, Any], path: str) -> str:
    """The parameter that a path begins with; of `*args` and `**kwargs` with the element, "args[0]"."""
    root = memory_advice.parameter(path)
    if parameters.get(root) not in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD):
        return root
    found = _ELEMENT.match(path, len(root))
    return root + found[0] if found else root


def _element(name: str) -> str:
    found = _ELEMENT.search(name)
    return found[0][1:-1].strip("'\"") if found else name


def _of_equinox(program: Program, names: Sequence[str]) -> str:
    """Which of equinox's choices donates these and no argument that a caller may still need; "" none."""
    entry = memory.entry(program)
    every = dict.fromkeys(memory_advice.parameter(one.name) for one in entry.arguments if one.kept) if entry else {}
    others = [name for name in every if name not in names]
    return "all" if not others else "all-except-first" if others == [next(iter(every))] else ""


def _donated(program: Program, names: tuple[str, ...], staged: Staged) -> Staged:
    entry = memory.entry(program)
    every = [argument.name for argument in entry.arguments] if entry else []
    numbers = [at for at, path in enumerate(every) if any(memory_advice.concerns(path, name) for name in names)]
    return donation.staged_with(staged, numbers)


DETECTOR = Detector(FindingKind.MISSING_DONATION, find, applies)
