"""Large values that are made of small ones and reduced to small ones, and need never be in memory whole."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxstage_ext.core import jaxpr_lines
from jaxstage_ext.core.derivative.rematerialization import BACKWARD
from jaxstage_ext.core.jax_private import jaxprs, tracebacks
from jaxstage_ext.core.rewrites import computed_in_pieces, piecewise
from jaxstage_ext.core.rewrites.piecewise import Piecewise
from jaxstage_ext.findings import code_change, equation_place, jit_site, stakes
from jaxstage_ext.findings.detector import Detector
from jaxstage_ext.findings.equation_place import EquationPlace
from jaxstage_ext.findings.finding import Certainty, CodeChange, Finding, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.findings.memory import memory_finding_wording as wording
from jaxstage_ext.findings.memory import scarce_memory, written_arrays
from jaxstage_ext.findings.staged_changes import of_jaxpr
from jaxstage_ext.ir.wire.protowire import Longs
from jaxstage_ext.program.device import program_devices
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.source.instruction_places import instruction_places
from jaxstage_ext.report.progress import Progress

LEAST = 32 << 20
"""Bytes of one such value, below which a loop over its pieces is not worth it."""
_LEAST_SHARE, SCARCE = 0.5, 0.05
"""Of the memory needed; and of the device's memory, what the program has to need."""
_MOST_LINES = 3
_ALIGNED = 1.01
"""With what buffers are rounded up to."""


def applies(program: Program) -> bool:
    """Whether there is an optimised module of one device, and a jaxpr to change."""
    return program.has_hlo and program.jax_traced is not None and program_devices.device_count(program) == 1


def find(program: Program, progress: Progress | None = None) -> list[Finding]:
    """One finding for all of them, at the line that makes the largest."""
    room, jaxpr = stakes.temporaries(program), program.jax_traced.jaxpr.jaxpr
    if room is not None and room < LEAST:
        return []
    size, rows = _largest(program, jaxpr)
    groups = piecewise.found(jaxpr, size) if size else []
    if not groups:
        return []
    most = _ALIGNED * float(program.module.shapes.padded[rows].sum())
    stake = stakes.stake(program, StakeMeasure.MEMORY, most if room is None else min(most, room))
    if scarce_memory.share(program, stake) < _LEAST_SHARE or not scarce_memory.is_scarce(program, SCARCE):
        return []
    largest = max(groups, key=lambda group: len(group.equations))
    equations = sorted(largest.equations, key=lambda eqn: BACKWARD in tracebacks.name_stack(eqn))
    places = equation_place.places(program, [largest.maker, *equations])
    is_backward = any(BACKWARD in tracebacks.name_stack(eqn) for eqn in equations)
    aval = largest.seed.aval
    return [
        Finding(
            FindingKind.WHOLE_INTERMEDIATE,
            wording.whole_intermediate(_type(aval), size, largest.dimension, largest.count),
            stake,
            line=places[0].label,
            rows={"hlo": tuple(instruction_places(program).row[rows[:8]].tolist())},
            names=(_type(aval),),
            change=_change(program, largest, places, is_backward, size),
            certainty=Certainty.ESTIMATED,
            caveat=wording.ONE_PIECE_AFTER_ANOTHER + (wording.FORWARD_AGAIN if is_backward else ""),
            tab="memory",
        )
    ]


def _largest(program: Program, jaxpr: Any) -> tuple[int, Longs]:
    """(bytes of the largest value of the jaxpr that XLA writes to memory, where it writes such); 0 for none."""
    sizes: dict[int, int] = {}
    for eqn, _ in jaxprs.nested_equations(jaxpr):
        for v in eqn.outvars:
            if (held := piecewise.bytes_of(v)) >= LEAST:
                sizes[held] = max(sizes.get(held, 0), int(v.aval.size))
    module, none = program.module, np.zeros(0, np.int64)
    for size in sorted(sizes, reverse=True):
        if len(written_arrays.of_sizes(module, {sizes[size]})):
            return size, written_arrays.of_sizes(module, {own for held, own in sizes.items() if 2 * held >= size})
    return 0, none


def _type(aval: Any) -> str:
    return str(aval.str_short(short_dtypes=True))


def _change(
    program: Program, group: Piecewise, places: Sequence[EquationPlace], is_backward: bool, size: int
) -> CodeChange:
    stage = of_jaxpr(lambda jaxpr: computed_in_pieces.in_pieces(jaxpr, size))
    batch = math.ceil(group.seed.aval.shape[group.dimension] / group.count)
    lines = list(dict.fromkeys(place.label for place in places if place.label))[:_MOST_LINES]
    diff = "" if is_backward or group.dimension else _vmap_diff(program, group.maker, batch)
    return code_change.change(wording.in_pieces(batch, lines, is_backward), diff, stage)


def _vmap_diff(program: Program, eqn: Any, batch: int) -> str:
    """`jax.lax.map` for a `jax.vmap` without axes in the lines that an equation was traced through; "" without one."""
    number = jaxpr_lines.frame_reader(program.frame_table)(eqn)
    frames = program.frame_table.freeze()
    for at in frames.stack(number) if number >= 0 else []:
        span = frames.span(at)
        lines = () if frames.in_library[at] else code_change.source_lines(program, span.file)
        tree = jit_site.parsed(lines) if lines else None
        calls: list[Any] = [one for one in ast.walk(tree) if _is_vmapped(one, span.line)] if tree is not None else []
        if len(calls) == 1:
            [call] = calls
            vmap, function = ast.unparse(call.func.func), ast.unparse(call.func.args[0])
            name = f"{vmap.removesuffix('vmap') or 'jax.'}lax.map"
            new = f"{name}({function}, {ast.unparse(call.args[0])}, batch_size={batch})".encode()
            text = lines[span.line - 1].encode()
            changed = text[: call.col_offset] + new + text[call.end_col_offset :]
            return code_change.diff(program, span.file, {span.line: [changed.decode("utf-8", "replace")]})
    return ""


def _is_vmapped(node: ast.AST, line: int) -> bool:
    """Whether it is `jax.vmap(f)(xs)`, in one line."""
    if not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords or not isinstance(node.func, ast.Call):
        return False
    made, is_starred = node.func, isinstance(node.args[0], ast.Starred)
    is_vmap = ast.unparse(made.func).rpartition(".")[2] == "vmap" and len(made.args) == 1 and not made.keywords
    return is_vmap and not is_starred and node.lineno == node.end_lineno == line


DETECTOR = Detector(FindingKind.WHOLE_INTERMEDIATE, find, applies)
