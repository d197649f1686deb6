"""The lines in which a stage's text differs between two processes, with the source line of each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from jaxstage_ext.ir import line_difference
from jaxstage_ext.processes.arrival import ComparedPart
from jaxstage_ext.processes.disagreement import ChangedLine, LineChange, StageDifference
from jaxstage_ext.processes.program_texts import CodePlace, ProgramTexts, StageText

_AROUND = 2
_MOST_LINES = 400
_MAIN = re.compile(r"^\s*func\.func public @main\((.*)\)(?: -> .*)?\{?$")
_DONATED = re.compile(r'(?:tf\.aliasing_output = \d+ : i32|jax\.buffer_donor = true|jax\.result_info = "[^"]*")(?:, )?')
_COLLECTIVE = re.compile(
    r"\bstablehlo\.(?:all_reduce|all_gather|all_to_all|reduce_scatter|collective_permute|collective_broadcast)\b"
)
_CONSTANT = re.compile(r"\bdense(?:_resource)?<[^>]*>")
_CONSTANT_LINE = re.compile(r"^\s*%\w+ = stablehlo\.constant ")
_ARGUMENT = re.compile(r"%arg(\d+): (tensor<[^>]*>)")
_LAMBDA = re.compile(r"\{ lambda [^;]{0,20000}; (.{0,20000}?)\. let ")
_TRACED_ARGUMENT = re.compile(r":(\w{1,40}\[[^\]]{0,1000}\])")
_MOST_OF_HEAD = 200
_VALUE_NAME = re.compile(r"%\w+")


def stage_difference(part: ComparedPart, before: ProgramTexts, after: ProgramTexts) -> StageDifference | None:
    """The difference of a stage of two processes; None where their texts are alike."""
    first, second = text_of(before, part), text_of(after, part)
    if first.lines == second.lines:
        return None
    pairs = line_difference.line_difference(_with_code(before, first), _with_code(after, second), part.value)
    if all(pair.what in (line_difference.SAME, line_difference.RENAMED) for pair in pairs):
        pairs = line_difference.line_difference(first.lines, second.lines)
    lines = [_line(pair, (before, first), (after, second)) for pair in pairs]
    return StageDifference(part, before.process, after.process, _near_changes(lines)[:_MOST_LINES])


def _with_code(texts: ProgramTexts, stage: StageText) -> list[str]:
    """The lines with the user's code that made them, so that of equal operations those of one line are matched."""
    codes = [texts.places[stack[0]].code if stack else "" for stack in stage.stacks]
    return [f"{line}  # {code}" for line, code in zip(stage.lines, codes, strict=True)]


def text_of(texts: ProgramTexts, part: ComparedPart) -> StageText:
    """The text of the jaxpr or the StableHLO."""
    return texts.jaxpr if part is ComparedPart.JAXPR else texts.stablehlo


def _line(
    pair: line_difference.LinePair, before: tuple[ProgramTexts, StageText], after: tuple[ProgramTexts, StageText]
) -> ChangedLine:
    gone = pair.what == line_difference.REMOVED
    (texts, stage), row = (before, pair.before) if gone else (after, pair.after)
    change = {line_difference.REMOVED: LineChange.REMOVED, line_difference.ADDED: LineChange.ADDED}
    return ChangedLine(change.get(pair.what, LineChange.SAME), stage.lines[row], place_of(texts, stage, row))


def place_of(texts: ProgramTexts, stage: StageText, row: int) -> CodePlace | None:
    """The user's line that made a row, or where it is not suspect a caller that only some processes may reach."""
    if _CONSTANT_LINE.match(stage.lines[row]):
        return None  # XLA's constants stand where the program is called, not where the value is used
    stack = [texts.places[index] for index in stage.stacks[row]] if row < len(stage.stacks) else []
    if not stack or stack[0].suspects:
        return stack[0] if stack else None
    return next((place for place in stack if any(one.decides for one in place.suspects)), stack[0])


def _near_changes(lines: Sequence[ChangedLine]) -> list[ChangedLine]:
    changed = [at for at, line in enumerate(lines) if line.change is not LineChange.SAME]
    near = {row for at in changed for row in range(at - _AROUND, at + _AROUND + 1)}
    shown: list[ChangedLine] = []
    skipped = 0
    for at, line in enumerate(lines):
        if at in near:
            shown += [_skipped(skipped)] if skipped else []
            shown.append(line)
        skipped = 0 if at in near else skipped + 1
    return [*shown, _skipped(skipped)] if skipped else shown


def _skipped(count: int) -> ChangedLine:
    return ChangedLine(LineChange.SKIPPED, str(count))


def argument_types(texts: ProgramTexts) -> tuple[str, ...]:
    """The types of the module's arguments, such as "tensor<8x4xf32>"; of what was only traced as the jaxpr has them."""
    if not texts.stablehlo.lines:
        return _traced_types(texts.jaxpr.lines)
    return tuple(kind for _, kind in _ARGUMENT.findall(_signature(texts)))


def _traced_types(lines: Sequence[str]) -> tuple[str, ...]:
    head = _LAMBDA.match(" ".join(lines[:_MOST_OF_HEAD]))
    return tuple(_TRACED_ARGUMENT.findall(head[1])) if head else ()


def _signature(texts: ProgramTexts) -> str:
    return next((line for line in texts.stablehlo.lines if _MAIN.match(line)), "")


def is_donation_alone(before: ProgramTexts, after: ProgramTexts) -> bool:
    """Whether the StableHLO of two processes is alike but for what is donated."""
    first, second = ([_DONATED.sub("", line) for line in texts.stablehlo.lines] for texts in (before, after))
    plain = [[line.replace("{}", "").replace(" ", "").replace(",}", "}") for line in each] for each in (first, second)]
    return bool(first) and plain[0] == plain[1]


def is_constant_alone(before: ProgramTexts, after: ProgramTexts) -> bool:
    """Whether the StableHLO of two processes is alike but for the values of constants."""
    first, second = ([_CONSTANT.sub("dense", line) for line in texts.stablehlo.lines] for texts in (before, after))
    return bool(first) and first == second


def is_order_alone(before: ProgramTexts, after: ProgramTexts) -> bool:
    """Whether both have the same operations, as often each, in another order."""
    first, second = (Counter(_VALUE_NAME.sub("%", line) for line in texts.stablehlo.lines) for texts in (before, after))
    return bool(first) and first == second


def meshes(texts: ProgramTexts) -> list[str]:
    """The meshes of the StableHLO: their names, and those and the sizes of their axes."""
    return [line.strip() for line in texts.stablehlo.lines if line.lstrip().startswith("sdy.mesh ")]


def explicit_collectives(texts: ProgramTexts) -> int:
    """How many operations of the StableHLO exchange data; those that XLA's partitioner will add are not in it."""
    return sum(bool(_COLLECTIVE.search(line)) for line in texts.stablehlo.lines)
