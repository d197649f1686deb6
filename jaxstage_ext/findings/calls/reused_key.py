"""Random keys that a program uses twice, so that what should be independent is the same."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, NamedTuple

from jaxstage_ext.core import jaxpr_lines
from jaxstage_ext.core.jax_private import alike_draws, reused_keys
from jaxstage_ext.core.jax_private.alike_draws import AlikeDraw
from jaxstage_ext.core.jax_private.reused_keys import KeyReuse
from jaxstage_ext.findings import code_change, equation_place, jit_site
from jaxstage_ext.findings.calls import calls_finding_wording as wording
from jaxstage_ext.findings.detector import Detector, is_traced
from jaxstage_ext.findings.finding import Certainty, CodeChange, Finding, Stake, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions import equation_lines
from jaxstage_ext.program.source.instruction_places import line_label
from jaxstage_ext.report.frames import Frames
from jaxstage_ext.report.progress import Progress

_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def find(program: Program, progress: Progress | None = None) -> list[Finding]:
    """One finding for each reuse at a line of the user's, in the program or on several devices."""
    found = [_finding(program, reuse) for reuse in reused_keys.reused_keys(program.jax_traced.jaxpr)]
    found += [_of_devices(program, draw) for draw in alike_draws.found(program.jax_traced.jaxpr.jaxpr)]
    return [one for one in found if one.line]


def _finding(program: Program, reuse: KeyReuse) -> Finding:
    use, earlier = _Use(_called(reuse.eqn)), _Use(_called(reuse.earlier))
    if reuse.earlier is None:
        use = use._replace(line=equation_place.place(program, reuse.eqn).label)
    else:
        use, earlier = _apart(program, reuse, use, earlier)
    return Finding(
        FindingKind.REUSED_KEY,
        wording.reused_key(reuse.argument, use.called, earlier.called, earlier.line),
        Stake(StakeMeasure.RESULT),
        line=use.line,
        names=(reuse.argument,) if reuse.argument else (),
        change=CodeChange(wording.split_key(reuse.argument, use.called, reuse.earlier is None, earlier.line)),
        certainty=Certainty.COUNTED,
        caveat=wording.SAME_IS_MEANT,
        tab="code",
    )


def _of_devices(program: Program, draw: AlikeDraw) -> Finding:
    return Finding(
        FindingKind.REUSED_KEY,
        wording.drawn_alike(_called(draw.eqn), draw.axis, draw.devices),
        Stake(StakeMeasure.RESULT),
        line=equation_place.place(program, draw.eqn).label,
        change=CodeChange(wording.own_key(draw.axis)),
        certainty=Certainty.INFERRED,
        caveat=wording.SAME_ON_ALL,
        tab="code",
    )


class _Use(NamedTuple):
    """What is given the key, and the line that gives it."""

    called: str
    line: str = ""


def _apart(program: Program, reuse: KeyReuse, use: _Use, earlier: _Use) -> tuple[_Use, _Use]:
    """Both uses where their call stacks part, as the key has to be split there; of a loop in Python, in its body."""
    frame_of, jaxpr = jaxpr_lines.frame_reader(program.frame_table), program.jax_traced.jaxpr.jaxpr
    around = equation_lines.frames_around(jaxpr, [reuse.eqn, reuse.earlier], frame_of)
    frames = program.frame_table.freeze()
    one, other = ([frame for at in each for frame in _users(frames, at)][::-1] for each in around)
    if not one or not other:
        return use._replace(line=_line(frames, one)), earlier._replace(line=_line(frames, other))
    parted = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), -1)
    if parted < 0:
        looped = (at for at in reversed(range(len(one))) if _is_in_loop(program, frames, one[at]))
        parted = next(looped, len(one) - 1)
    made = []
    for each, stack in ((use, one), (earlier, other)):
        inner = stack[parted + 1 :][:1]
        called = frames.functions[frames.function[inner[0]]].rpartition(".")[2] if inner else each.called
        made.append(_Use(called if called.isidentifier() else each.called, _line(frames, stack[: parted + 1])))
    return made[0], made[1]


def _users(frames: Frames, frame: int) -> list[int]:
    """The frames of the user's in a stack, innermost first."""
    return [each for each in frames.stack(frame) if frames.files[frames.file[each]].user]


def _line(frames: Frames, stack: Sequence[int]) -> str:
    return line_label(frames, stack[-1]) if stack else ""


def _is_in_loop(program: Program, frames: Frames, frame: int) -> bool:
    """Whether the line of a frame is in a loop of its function."""
    span = frames.span(frame)
    tree = jit_site.parsed(code_change.source_lines(program, span.file))
    around = [node for node in ast.walk(tree) if _holds(node, span.line)] if tree is not None else []
    held = sorted(around, key=lambda node: (node.lineno, node.col_offset))  # type: ignore[attr-defined]
    kinds = [type(node) for node in held]
    inner = next((at for at in reversed(range(len(kinds))) if issubclass(kinds[at], _FUNCTIONS)), -1)
    return any(issubclass(kind, _LOOPS) for kind in kinds[inner + 1 :])


def _holds(node: ast.AST, line: int) -> bool:
    if not isinstance(node, (*_FUNCTIONS, *_LOOPS)):
        return False
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _called(eqn: Any) -> str:
    """What uses the key, as `jax.random` calls it: "normal", "split"; "" for no equation."""
    if eqn is None:
        return ""
    name = str(eqn.params.get("name") or eqn.primitive.name)
    return name.removeprefix("random_").lstrip("_")


DETECTOR = Detector(FindingKind.REUSED_KEY, find, is_traced)
