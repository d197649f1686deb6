"""What the backward pass of an unrolled network reads, where a checkpoint around each layer lets less be live."""

from __future__ import annotations

import ast
from collections import Counter
from typing import Any, NamedTuple

import jax

from jaxstage_ext.core import jaxpr_lines
from jaxstage_ext.core.jax_private import checkpoints, layer_checkpoints
from jaxstage_ext.core.jax_private.layer_checkpoints import ForwardParts
from jaxstage_ext.core.stage.stageable import code_of
from jaxstage_ext.findings import code_change, jit_site, stakes
from jaxstage_ext.findings.finding import Certainty, Finding, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.findings.memory import memory_finding_wording as wording
from jaxstage_ext.findings.memory import scarce_memory
from jaxstage_ext.findings.staged_changes import of_jaxpr
from jaxstage_ext.program.device.target_title import platform
from jaxstage_ext.program.program import Program

LEAST = 32 << 20
"""Bytes below which computing the forward pass twice is not worth it."""
_LEAST_SHARE = 0.4
"""Of the memory needed."""
_MOSTLY = 0.6
_BARRIERS_ON_CPU = (0, 12)
"""Before this version of JAX, XLA merges on a CPU what is computed again with what was computed."""


class _Repeated(NamedTuple):
    """The function of the user's that most of the forward pass is in."""

    name: str = ""
    file: str = ""


def find(program: Program) -> list[Finding]:
    """One finding for the whole forward pass."""
    if platform(program) == "cpu" and jax.__version_info__ < _BARRIERS_ON_CPU:
        return []
    if program.has_hlo and not scarce_memory.is_scarce(program):
        return []
    jaxpr = program.jax_traced.jaxpr.jaxpr
    parts = None if checkpoints.found(jaxpr)[0] else layer_checkpoints.read(jaxpr)
    if parts is None or parts.before - parts.after < LEAST:
        return []
    room = stakes.temporaries(program) if program.has_hlo else None
    most = float(parts.before)  # what is live of it, and what the backward pass adds, is less than all of it
    stake = stakes.stake(program, StakeMeasure.MEMORY, most if room is None else min(most, room))
    if program.has_hlo and scarce_memory.share(program, stake) < _LEAST_SHARE:
        return []
    layer = _repeated(program, parts)
    line, diff = _changed(program, layer)
    return [
        Finding(
            FindingKind.RESIDUALS,
            wording.layer_residuals(parts.before, parts.count, layer.name),
            stake,
            line=line,
            names=(layer.name,) if layer.name else (),
            change=code_change.change(
                wording.checkpoint_layer(layer.name), diff, of_jaxpr(layer_checkpoints.checkpointed)
            ),
            certainty=Certainty.ESTIMATED,
            caveat=wording.FORWARD_TWICE,
            tab="memory",
        )
    ]


def _repeated(program: Program, parts: ForwardParts) -> _Repeated:
    frame_of = jaxpr_lines.frame_reader(program.frame_table)
    numbers = [frame_of(eqn) for eqn in parts.passes.forward]
    frames = program.frame_table.freeze()
    held: Counter[tuple[int, int]] = Counter()
    depth: dict[tuple[int, int], int] = {}
    for number in numbers:
        chain = frames.stack(number) if number >= 0 else []
        own = [at for at in chain if not frames.in_library[at] and int(frames.user[at]) == at]
        functions = dict.fromkeys((int(frames.file[at]), int(frames.function[at])) for at in reversed(own))
        for level, function in enumerate(functions):
            held[function] += 1
            depth[function] = max(level, depth.get(function, 0))
    code = code_of(program.call.fn)
    outer = code.co_qualname if code is not None else ""
    named = {key: frames.functions[key[1]] for key, count in held.items() if count >= _MOSTLY * len(numbers)}
    inner = [key for key, name in named.items() if name != outer and "<lambda>" not in name and depth[key] > 0]
    if not inner:
        return _Repeated()
    best = max(inner, key=lambda key: depth[key])
    return _Repeated(named[best].rpartition("<locals>.")[2], frames.files[best[0]].name)


def _changed(program: Program, layer: _Repeated) -> tuple[str, str]:
    """(line of the one call of the function, diff with a checkpoint around it); "" where there is not one call."""
    lines = code_change.source_lines(program, layer.file) if layer.name else ()
    tree = jit_site.parsed(lines) if lines else None
    calls: list[Any] = [
        node for node in (ast.walk(tree) if tree is not None else ()) if isinstance(node, ast.Call) and
        isinstance(node.func, ast.Name) and node.func.id == layer.name
    ]  # fmt: skip
    if len(calls) != 1:
        return "", ""
    diff = code_change.wrapped(program, layer.file, calls[0].func, "jax.checkpoint(", ")")
    return jit_site.label(program, layer.file, calls[0].lineno), diff
