"""Where a process is, from stacks as `faulthandler` writes them and from journals: made by hand."""

from __future__ import annotations

import json
import sysconfig
from dataclasses import replace

import pytest

from jaxstage_ext.processes.engines import whereabouts_wording as wording
from jaxstage_ext.processes.engines.engine_job import names_by_file
from jaxstage_ext.processes.engines.process_stack import StackFrame, stack_of, unready_of
from jaxstage_ext.processes.engines.unequal_calls import UnequalCalls, unequal_calls
from jaxstage_ext.processes.engines.whereabouts import (
    EngineActivity,
    EngineNotes,
    NamedLine,
    ProgramPlace,
    Whereabouts,
    notes_of,
    whereabouts,
)

STDLIB, LIBRARY = sysconfig.get_path("stdlib"), sysconfig.get_path("purelib")
CELL = "/tmp/ipykernel_7/123.py"
LOOP = [
    StackFrame(f"{STDLIB}/selectors.py", 452, "select"),
    StackFrame(f"{STDLIB}/asyncio/base_events.py", 1900, "_run_once"),
    StackFrame(f"{LIBRARY}/ipyparallel/engine/app.py", 995, "start"),
]
USER = [StackFrame(CELL, 3, "train"), StackFrame(CELL, 5, "<module>"), *LOOP]
JOURNAL = [
    ["cell", 100.0, CELL],
    ["program", 100.5, "jit_step", CELL, 3, 2],
    ["program", 100.6, "jit_total", CELL, 9, 2],
]
BUSY = notes_of("\n".join(map(json.dumps, JOURNAL)))


def where(stack: list[StackFrame], notes: EngineNotes = BUSY, code: str = "y = f(x)") -> tuple[EngineActivity, str]:
    found = whereabouts(0, stack, notes, lambda file, line: NamedLine(f"In [4]:{line}", code), 106.0)
    return found.activity, wording.activity(found)


def test_a_stack_is_that_of_the_thread_asked_for() -> None:
    text = """\
Thread 0x00007f11 (most recent call first):
  File "/usr/lib/python3.13/threading.py", line 359 in wait
Current thread 0x00007f22 [python] (most recent call first):
  File "/tmp/a b/"quoted".py", line 3 in f
  File "<string>", line ??? in <module>

Thread 0x00007f33 (most recent call first):
  <no Python frame>
"""
    assert stack_of(text, 0x7F22) == (StackFrame('/tmp/a b/"quoted".py', 3, "f"), StackFrame("<string>", 0, "<module>"))
    assert stack_of(text, 0x7F33) == () and stack_of("", 1) == ()


def test_a_journal_tells_programs_and_whether_a_cell_runs() -> None:
    assert [program.name for program in BUSY.programs] == ["jit_step", "jit_total"] and BUSY.busy_since == 100.0
    text = "\n".join(map(json.dumps, [*JOURNAL, ["done", 101.0]])) + '\n["cell", 10'  # cut while it is written
    assert notes_of(text).busy_since is None


def test_a_program_is_known_by_its_line_or_by_its_name_in_it() -> None:
    assert where(USER) == (EngineActivity.PROGRAM, "in jit_step, a program of 2 processes, In [4]:3, 6 s: y = f(x)")
    other = [StackFrame(CELL, 4, "train"), *LOOP]
    assert where(other, code="y = total(x)")[1].startswith("in jit_total (inferred), a program of 2 processes")
    assert where(other, code="y = subtotal(x)") == (
        EngineActivity.PYTHON,
        "running Python, In [4]:4, 6 s: y = subtotal(x)",
    )


@pytest.mark.parametrize(
    ("above", "activity"),
    [
        (f"{LIBRARY}/jax/_src/array.py", EngineActivity.PROGRAM),  # of a line that runs one
        (f"{LIBRARY}/jax/_src/compiler.py", EngineActivity.COMPILING),
        (f"{LIBRARY}/jax/_src/interpreters/partial_eval.py", EngineActivity.TRACING),
        (f"{LIBRARY}/jaxstage_ext/processes/meeting.py", EngineActivity.GUARD),
    ],
)
def test_what_is_above_the_users_line_says_what_it_does(above: str, activity: EngineActivity) -> None:
    assert where([StackFrame(above, 1, "f"), *USER])[0] is activity


def test_a_result_is_waited_for_where_no_program_is_known() -> None:
    stack = [StackFrame(f"{LIBRARY}/jax/_src/array.py", 1, "_value"), *USER]
    assert where(stack, EngineNotes())[0] is EngineActivity.RESULT


def test_an_engine_is_idle_unless_a_cell_or_a_call_runs() -> None:
    assert where(LOOP, EngineNotes()) == (EngineActivity.IDLE, "idle")
    assert where(LOOP[1:], EngineNotes())[0] is EngineActivity.IDLE  # between two waits
    call = StackFrame(f"{LIBRARY}/jaxstage_ext/processes/inside/engine_call.py", 28, "__call__")
    assert where([call, *LOOP], EngineNotes())[0] is EngineActivity.PYTHON
    assert where([], EngineNotes())[0] is EngineActivity.UNKNOWN


def test_names_and_code_are_one_clean_line() -> None:
    found = whereabouts(0, USER, EngineNotes(), lambda file, line: NamedLine("a\x1b[31m\nb", "x\n" * 100), 0.0)
    text = wording.where(found)
    assert "\n" not in text and "\x1b" not in text and len(text) < 120
    assert names_by_file("/no/such/file.py", 3) == NamedLine("file.py:3")


def test_a_program_is_known_by_the_function_that_a_name_stands_for() -> None:
    notes = notes_of(json.dumps(["program", 100.5, "jit__lambda", "/other.py", 3, 2]))
    text = f"""\
Thread 0x00007f22 (most recent call first):
  File "{CELL}", line 3 in train
    jitted step = <lambda>
    jitted other = total
  File "{CELL}", line 5 in <module>
"""
    assert (unready_of(text), unready_of(text + "Arrays that are not computed yet: 3\n\n")) == (0, 3)
    stack = stack_of(text, 0x7F22)
    assert [frame.jitted for frame in stack] == [(("step", "<lambda>"), ("other", "total")), ()]
    assert where([*stack, *LOOP], notes, "y = step(x)")[0] is EngineActivity.PROGRAM
    assert where([*stack, *LOOP], notes, "y = other(x)")[0] is EngineActivity.PYTHON


def at(process: int, program: str = "", cell: str = "1.py", activity: EngineActivity | None = None) -> Whereabouts:
    if not program:
        return Whereabouts(process, activity or EngineActivity.IDLE, cell=cell)
    return Whereabouts(process, EngineActivity.PROGRAM, program=ProgramPlace(program, CELL, 3, 3), cell=cell)


def test_one_that_has_finished_the_cell_in_which_another_waits_makes_fewer_calls() -> None:
    found = unequal_calls([at(0), at(1, "jit_step"), at(2)])
    assert found == UnequalCalls(((1, "jit_step"),), (0, 2))
    guard = unequal_calls([at(0), at(1, activity=EngineActivity.GUARD)])
    assert guard == UnequalCalls(((1, ""),), (0,))
    assert "1" in wording.unequal(found) and "jit_step" in wording.unequal(found)


def test_a_journal_tells_whether_the_last_cell_failed() -> None:
    ends = [notes_of("\n".join(map(json.dumps, [*JOURNAL, ["done", 101.0, ended]]))) for ended in (True, False)]
    assert [notes.has_failed for notes in (BUSY, *ends)] == [False, False, True]
    again = notes_of(
        "\n".join(map(json.dumps, [*JOURNAL, ["done", 101.0, False], ["cell", 102.0, "/t/ipykernel_1/7.py"]]))
    )
    assert (again.has_failed, again.cell) == (False, "7.py")
    failed = unequal_calls([replace(at(0), has_failed=True), at(1, "jit_step")])
    assert failed == UnequalCalls(((1, "jit_step"),), (0,), (0,))


def test_two_in_different_programs_wait_for_each_other() -> None:
    assert unequal_calls([at(0, "jit_step"), at(1, "jit_total")]) == UnequalCalls(((0, "jit_step"), (1, "jit_total")))


@pytest.mark.parametrize(
    "found",
    [
        [at(0, "jit_step"), at(1, "jit_step")],
        [at(0), at(1)],
        [at(0, cell="2.py"), at(1, "jit_step")],
        [at(0, cell=""), at(1, "jit_step", cell="")],
        [at(0, activity=EngineActivity.PYTHON), at(1, "jit_step")],
        [at(0, activity=EngineActivity.ENDED), at(1, "jit_step")],
    ],
)
def test_of_others_it_is_not_said(found: list[Whereabouts]) -> None:
    assert unequal_calls(found) is None
