"""Who agrees with whom, and why not: made programs of four processes. The oracle is how each was made. No JAX."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from jaxstage_ext.processes.agreement import groups_of
from jaxstage_ext.processes.arrival import Arrival, ComparedPart, EndKind, ProcessEnd
from jaxstage_ext.processes.cause_search import differing_programs, missing_processes
from jaxstage_ext.processes.disagreement import Disagreement, DisagreementCause, LineChange
from jaxstage_ext.processes.flow.value_origin import Suspect, ValueOrigin
from jaxstage_ext.processes.preflight_report import error_text, report_text
from jaxstage_ext.processes.program_texts import CodePlace, ProgramTexts, StageText

MAIN = "  func.func public @main(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>) -> (tensor<8xf32>) {"
LINES = (
    "module @jit_step {",
    MAIN,
    "    %0 = stablehlo.add %arg0, %arg1 : tensor<8xf32>",
    "    %1 = stablehlo.sine %0 : tensor<8xf32>",
    "    %2 = stablehlo.cosine %1 : tensor<8xf32>",
    "    return %2 : tensor<8xf32>",
    "  }",
    "}",
)
PLACES = [CodePlace("train.py", at, f"line {at}") for at in range(len(LINES))]
STACKS = tuple((at,) if 1 < at < 5 else () for at in range(len(LINES)))
CALL = CodePlace("train.py", 40, "step(x, y)")


def texts(process: int, lines: Sequence[str] = LINES, **other: Any) -> ProgramTexts:
    stage = StageText(tuple(lines), STACKS[: len(lines)])
    made = ProgramTexts(process, CALL, PLACES, StageText((), ()), stage, {"level": "1"}, {"jax": "1"}, (0, 1), ())
    return replace(made, **other)


def found(*programs: ProgramTexts, names: Sequence[str] = ()) -> Disagreement:
    arrivals = {}
    for each in programs:
        parts = (str(each.environment), each.devices, each.stablehlo.lines, str(each.options))
        name = names[each.process] if names else "jit_step"
        kinds = (ComparedPart.ENVIRONMENT, ComparedPart.DEVICES, ComparedPart.STABLEHLO, ComparedPart.OPTIONS)
        digests = {kind: str(hash(part)) for kind, part in zip(kinds, parts, strict=True)}
        arrivals[each.process] = Arrival(
            each.process, "node", name, "train.py:40", {ComparedPart.ORDER: name, **digests}
        )
    return differing_programs(2, arrivals, {each.process: each for each in programs})


def changed(at: int, line: str) -> list[str]:
    return [*LINES[:at], line, *LINES[at + 1 :]]


def suspected(origin: ValueOrigin) -> list[CodePlace]:
    return [replace(place, suspects=(Suspect(origin, 1, "value"),)) for place in PLACES]


ADD = "    %0 = stablehlo.subtract %arg0, %arg1 : tensor<8xf32>"
REDUCE = '    %1 = "stablehlo.all_reduce"(%0) : tensor<8xf32>'
MESHES = [[f'  sdy.mesh @mesh = <["{name}"=2]>', *LINES[1:]] for name in ("data", "batch")]
SWAPPED = [*LINES[:3], LINES[4], LINES[3], *LINES[5:]]
SHAPED = [line.replace("8xf32", "4xf32") for line in LINES]
DONATED = changed(1, MAIN.replace("%arg0: tensor<8xf32>", "%arg0: tensor<8xf32> {tf.aliasing_output = 0 : i32}"))
CONSTANTS = [changed(3, f"    %1 = stablehlo.constant dense<{value}> : tensor<8xf32>") for value in (1, 2)]
CASES = {
    DisagreementCause.UNKNOWN: (texts(0), texts(1, changed(2, ADD))),
    DisagreementCause.COLLECTIVE_MORE: (texts(0), texts(1, changed(3, REDUCE))),
    DisagreementCause.LOCAL_SHAPE: (texts(0), texts(1, SHAPED)),
    DisagreementCause.DONATION: (texts(0), texts(1, DONATED)),
    DisagreementCause.CAPTURED_VALUE: (texts(0, CONSTANTS[0]), texts(1, CONSTANTS[1])),
    DisagreementCause.OPERATION_ORDER: (texts(0), texts(1, SWAPPED)),
    DisagreementCause.SET_ORDER: (texts(0), texts(1, SWAPPED, has_sets=True)),
    DisagreementCause.CLOCK: (texts(0), texts(1, changed(2, ADD), places=suspected(ValueOrigin.CLOCK))),
    DisagreementCause.MESH: (texts(0, MESHES[0]), texts(1, MESHES[1])),
    DisagreementCause.OPTIONS: (texts(0), texts(1, options={"level": "2"})),
    DisagreementCause.VERSIONS: (texts(0), texts(1, environment={"jax": "2"})),
    DisagreementCause.FLAGS: (
        texts(0, environment={"jax": "1", "XLA flags": ""}),
        texts(1, environment={"jax": "1", "XLA flags": "--xla_a"}),
    ),
    DisagreementCause.CONFIG: (texts(0, config={"jax_x": "None"}), texts(1, changed(2, ADD), config={"jax_x": "high"})),
    DisagreementCause.DEVICE_ORDER: (texts(0), texts(1, devices=(1, 0))),
}


@pytest.mark.parametrize("cause", CASES, ids=lambda cause: cause.name)
def test_the_cause_is_that_by_which_they_were_made_to_differ(cause: DisagreementCause) -> None:
    why = found(*CASES[cause])
    assert why.cause is cause
    for text in (report_text(why), error_text(why, "here")):
        assert "0" in text and "1" in text and "jit_step" in text


def test_a_constant_that_nothing_explains_has_what_the_call_takes() -> None:
    call = replace(CALL, suspects=(Suspect(ValueOrigin.PROCESS, 7, "s = Sampler(jax.process_index())", cell="In [2]"),))
    used = [changed(3, f"    %1 = stablehlo.multiply %0, dense<{value}> : tensor<8xf32>") for value in (1, 2)]
    why = found(texts(0, used[0], call=call), texts(1, used[1], call=call))
    assert (why.cause, why.call) == (DisagreementCause.CAPTURED_VALUE, call)
    assert "In [2]:7: s = Sampler(jax.process_index())" in error_text(why, "here")
    assert found(*CASES[DisagreementCause.CAPTURED_VALUE]).call is None


def test_a_changed_line_is_named_with_its_line_of_code() -> None:
    why = found(*CASES[DisagreementCause.UNKNOWN])
    assert str(why.place) == "train.py:2"
    lines = [(line.change, line.text) for each in why.differences for line in each.lines]
    assert (LineChange.REMOVED, LINES[2]) in lines and (LineChange.ADDED, ADD) in lines


def test_three_that_agree_are_one_group_and_the_fourth_is_compared_with_them() -> None:
    why = found(*(texts(process, changed(2, ADD) if process == 1 else LINES) for process in range(4)))
    assert why.groups[ComparedPart.STABLEHLO] == [(0, 2, 3), (1,)]
    assert why.groups[ComparedPart.OPTIONS] == [(0, 1, 2, 3)]
    assert {(each.before, each.after) for each in why.differences} == {(0, 1)}


def test_another_name_is_another_order_whatever_the_texts_are() -> None:
    why = found(texts(0), texts(1, changed(2, ADD)), names=("jit_f", "jit_g"))
    assert (why.cause, why.differing, why.differences) == (DisagreementCause.PROGRAM_ORDER, ComparedPart.ORDER, [])


def test_one_that_sent_no_texts_still_differs() -> None:
    pair = CASES[DisagreementCause.UNKNOWN]
    arrivals = found(*pair).arrivals
    why = differing_programs(2, arrivals, {0: pair[0]})
    assert why.groups[ComparedPart.STABLEHLO] == [(0,), (1,)] and why.cause is DisagreementCause.UNKNOWN
    assert report_text(why)


def test_groups_are_ordered_by_size_and_index() -> None:
    assert groups_of({0: "a", 1: "b", 2: "b", 3: "a", 4: "c", 5: "b"}) == [(1, 2, 5), (0, 3), (4,)]
    assert groups_of({}) == []


@pytest.mark.parametrize(
    ("kind", "cause"), [(EndKind.ERROR, DisagreementCause.ERROR), (EndKind.LEFT, DisagreementCause.LEFT)]
)
def test_an_end_explains_an_absence(kind: EndKind, cause: DisagreementCause) -> None:
    end = ProcessEnd(1, kind, "", "", 0, "")
    arrivals = found(texts(0)).arrivals
    assert missing_processes(1, arrivals, (1,), {1: end}, 1.0).cause is cause
    assert missing_processes(1, arrivals, (1,), {}, 1.0).cause is DisagreementCause.ABSENT


def test_texts_survive_being_sent() -> None:
    sent = texts(3, places=suspected(ValueOrigin.RANDOM))
    back = ProgramTexts.unpacked(sent.packed())
    assert (back.process, list(back.places), back.call) == (3, list(sent.places), CALL)
    assert [list(each.lines) for each in (back.jaxpr, back.stablehlo)] == [[], list(LINES)]
    assert [list(stack) for stack in back.stablehlo.stacks] == [list(stack) for stack in STACKS]
