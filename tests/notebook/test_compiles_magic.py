"""`%compiles` and `%%compiles`: what a user sees in a real shell."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.error import UsageError
from magic_shell import Shell, fresh_shell

from jaxstage_ext.compilation.events import listening
from jaxstage_ext.compilation.history.history import history
from jaxstage_ext.compilation.records.compile_log import LOG
from jaxstage_ext.compilation.records.compile_record import CompileRecord
from jaxstage_ext.panel.showing.shown_history import ShownHistory
from jaxstage_ext.processes.engines.engines_wording import NO_JOB
from tests.helpers.compile_records import compile_record

STEP = """@jax.jit
def step(x, n=3):
    return jnp.sin(x) * n
"""


@pytest.fixture
def shell() -> Iterator[Shell]:
    LOG.clear()
    with fresh_shell() as made:
        made.run(f"{STEP}\nxs = [jnp.ones(8), jnp.ones(8, jnp.int32), *map(jnp.ones, range(9, 15))]")
        yield made


def test_the_newest_cell_that_compiled_a_function_is_shown(shell: Shell) -> None:
    shell.run("step(xs[0])")
    shell.run("step(xs[1])")
    shell.run("jnp.ones(777) + 1")
    seen = shell.run("%compiles")
    assert seen.ok, seen.error
    head, row = seen.text.splitlines()[:2]
    assert head.startswith("In [4]: 1 compile, ")
    assert "In [4]:1  step(i32[8])" in row
    assert "x is int32, was float32" in row
    assert "→ " in seen.text


def test_a_cell_that_did_nothing_new_is_passed_over(shell: Shell) -> None:
    shell.run("step(xs[0])")
    shell.run("step(xs[0])")
    assert shell.run("%compiles").text.startswith("In [3]: 1 compile")


def test_before_any_compile_it_says_so(shell: Shell) -> None:
    LOG.clear()
    assert shell.run("%compiles").text.strip() == "Nothing was traced, lowered or compiled."


def test_selections(shell: Shell) -> None:
    shell.run("step(xs[0])")
    shell.run("step(xs[1])\njax.jit(lambda y: y * 2)(xs[0])")
    assert [r.name for r in shell.run("h = %compiles --cell 3\nh").value.records] == ["step"]
    assert [r.cell for r in shell.run("h = %compiles --function step\nh").value.records] == [3, 4]
    assert len(shell.run("h = %compiles all\nh").value) == 3
    assert len(shell.run("h = %compiles --over 10min\nh").value) == 0
    assert [r.cell for r in shell.run("h = %compiles --function=step --cell 4\nh").value.records] == [4]


def test_an_assigned_line_shows_nothing_and_is_the_history(shell: Shell) -> None:
    shell.run("step(xs[0])")
    seen = shell.run("h = %compiles")
    assert seen.text == ""
    assert isinstance(shell["h"], ShownHistory)
    assert shell["h"].by_function()["function"] == ["step"]
    (number,) = shell["h"].table()["number"]
    assert "step(f32[8])" in repr(shell["h"].inspect(number)).replace("x: ", "")


def test_eager_operations_have_a_row_each_where_asked(shell: Shell) -> None:
    shell.run("jnp.ones(778) + jnp.arange(778)")
    folded, unfolded = (shell.run(f"%compiles --cell 3 {option}").text for option in ("", "--eager"))
    assert "eager operations: " in folded
    assert "eager operations" not in unfolded
    assert unfolded.count("#") > folded.count("#")


def test_operations_of_jax_under_a_transformation_are_eager_too(shell: Shell) -> None:
    shell.run("jax.vmap(lambda x: jnp.where(step(x) > 0, x, 0))(xs[0])")
    text = shell.run("%compiles --cell 3").text
    assert "step(f32[" in text
    assert "_where(" not in text
    assert "eager operations" in text


def test_a_call_that_jax_refuses_has_no_time(shell: Shell) -> None:
    shell.run("import functools\n@functools.partial(jax.jit, static_argnums=1)\ndef f(x, n):\n    return x * len(n)")
    shell.run("f(xs[0], [1, 2])")
    row = shell.run("%compiles").text.splitlines()[1]
    assert "refused" in row
    [told] = [history().why(record) for record in history().records if record.refused is not None]
    assert told in " ".join(shell.run("%compiles").text.split())


def test_our_own_work_is_marked(shell: Shell) -> None:
    shell.run("%compile -q step(xs[0])")
    seen = shell.run("%compiles --cell 3")
    assert "[JAXStage] step(f32[8])" in seen.text
    assert "JAXStage's own work: 1 compile" in seen.text


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--cell 99", "no record of a compile in In [99]; the newest that did: 3"),
        ("--cell x", "'x' is not a whole number"),
        ("--function ste", "no record of a function 'ste'; did you mean step?"),
        ("--over soon", "'soon' is not a duration such as 1s"),
        ("--over", "--over needs a value"),
        ("step", "%compiles does not take 'step'; did you mean --function step?"),
        ("--expect 0", "--expect is for %%compiles above a cell"),
        ("--cel 3", "unknown option --cel; did you mean --cell?"),
        ("--json /nowhere/c.json", "--json /nowhere/c.json: No such file or directory"),
    ],
)
def test_mistakes_are_one_line(shell: Shell, line: str, said: str) -> None:
    shell.run("step(xs[0])")
    seen = shell.run(f"%compiles {line}")
    assert type(seen.error).__name__ == "UsageError"
    assert said in str(seen.error)
    assert "\n" not in str(seen.error)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--cell 3", "--cell is for %compiles on a line of its own"),
        ("all", "%%compiles does not take 'all'"),
        ("--expect -1", "'-1' is not a whole number"),
        ("--expect some", "'some' is not a whole number"),
    ],
)
def test_mistakes_above_a_cell_are_one_line_and_run_nothing(shell: Shell, line: str, said: str) -> None:
    seen = shell.run(f"%%compiles {line}\nran = True")
    assert type(seen.error).__name__ == "UsageError"
    assert said in str(seen.error)
    assert "ran" not in shell


def test_a_cell_shows_its_value_and_what_it_compiled(shell: Shell) -> None:
    seen = shell.run("%%compiles\ny = step(xs[0])\ny.shape")
    assert "(8,)" in seen.text
    assert "In [3]: 1 compile, " in seen.text
    assert "In [3]:2  step(f32[8])" in seen.text


def test_an_expectation_that_holds_is_quiet(shell: Shell) -> None:
    shell.run("step(xs[0])")
    seen = shell.run("%%compiles --expect 0\nstep(xs[0]);")
    assert seen.ok
    assert seen.text == ""


def test_an_expectation_that_fails_has_the_explanation_and_no_frames_of_ours(shell: Shell) -> None:
    shell.run("step(xs[0])")
    seen = shell.run("%%compiles --expect 0\nz = 1\nstep(xs[1]);")
    assert type(seen.error).__name__ == "UnexpectedCompile"
    assert isinstance(seen.error, AssertionError)
    assert "1 compile, expected at most 0" in seen.text
    assert "step(i32[8]) at In [4]:3" in seen.text
    assert "x is int32, was float32" in seen.text
    assert "jaxstage_ext/" not in seen.text
    assert shell["z"] == 1


def test_the_arrow_points_at_the_call_of_the_first_compile_that_was_not_expected(shell: Shell) -> None:
    shell.run("step(xs[0])\ndef helper(x):\n    return step(x)")
    cell = "%%compiles --expect {}\nz = 1\nfor x in xs[1:]:\n    step(\n        x)\nhelper(jnp.ones((2, 2)))"

    def arrows(expected: int) -> list[str]:
        shell.run("step.clear_cache()")
        return [line for line in shell.run(cell.format(expected)).text.split("\n") if line.startswith("---->")]

    assert arrows(0) == ["----> 4     step("]
    assert arrows(7) == ["----> 3     return step(x)"], "the eighth compile, which an earlier cell's line calls"
    assert arrows(8) == []


def test_an_error_of_the_cell_wins(shell: Shell) -> None:
    seen = shell.run("%%compiles --expect 0\nstep(xs[2])\n1/0")
    assert isinstance(seen.error, ZeroDivisionError)
    assert "----> 3 1/0" in seen.text


def test_cells_that_await(shell: Shell) -> None:
    wait = "import asyncio\nawait asyncio.sleep(0)\n"
    assert "In [3]:4  step(f32[8])" in shell.run(f"%%compiles\n{wait}step(xs[0]);").text
    assert type(shell.run(f"%%compiles --expect 0\n{wait}step(xs[1]);").error).__name__ == "UnexpectedCompile"
    assert shell.run(f"%%compiles --expect 0\n{wait}step(xs[1]);").ok


def test_it_runs_where_the_log_is_off(shell: Shell) -> None:
    shell.run("%config JAXStage.compile_log = False")
    assert not listening.is_on()
    shell.run("step(xs[0])")
    assert "%config JAXStage.compile_log = True" in shell.run("%compiles all").text
    assert type(shell.run("%%compiles --expect 0\nstep(xs[1])").error).__name__ == "UnexpectedCompile"
    assert not listening.is_on()
    shell.run("%config JAXStage.compile_log = True")
    assert listening.is_on()


def test_unloading_stops_the_log_whatever_the_setting() -> None:
    with fresh_shell() as shell:
        shell.run("%config JAXStage.compile_log = False")
        shell.run("%unload_ext jaxstage_ext")
        assert not listening.is_on()


def test_json(shell: Shell, tmp_path: Path) -> None:
    shell.run("step(xs[0])")
    seen = shell.run(f"%compiles --json {tmp_path}/log.json")
    assert seen.text.strip() == f"1 record written to {tmp_path}/log.json"
    assert json.loads((tmp_path / "log.json").read_text())["columns"]["function"]["values"] == ["step"]


def test_help_says_what_cannot_be_known(shell: Shell) -> None:
    for kind in ("line", "cell"):
        text = str(shell.ip.magics_manager.magics[kind]["compiles"].__doc__)
        assert "    %%compiles --expect 0 " in text
        assert "    %compiles --cell 12\n" in text
        assert "What cannot be known" in text
        assert "--over 1s" in text


def test_options_are_completed(shell: Shell) -> None:
    with provisionalcompleter():
        for text, expected in (("%compiles --f", ["--function"]), ("%%compiles --ex", ["--expect"])):
            assert [c.text for c in shell.ip.Completer.completions(text, len(text))] == expected
        names = [c.text for c in shell.ip.Completer.completions("%compiles --function ste", 24)]
        assert names == ["step"]


def slow(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Every record took that long, whatever the machine."""
    monkeypatch.setattr(CompileRecord, "own_seconds", property(lambda _: seconds))


def test_one_quiet_line_below_a_cell_that_recompiled(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    slow(monkeypatch, 1.5)
    assert "compiled again" not in shell.run("step(xs[0]);").text
    seen = shell.run("step(xs[1]);\nstep(xs[2]);")
    assert seen.text.count("compiled again") == 1
    assert seen.text.splitlines()[-1].endswith(". %compiles")
    assert shell.run("step(xs[1]);").text == ""


def test_the_line_says_why(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    slow(monkeypatch, 1.5)
    shell.run("step(xs[0]);")
    assert shell.run("step(xs[1]);").text.strip() == "step compiled again, 1.5 s: x is int32, was float32. %compiles"


def test_a_function_compiled_in_a_loop_adds_up(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    slow(monkeypatch, 0.4)
    shell.run("step(xs[0]);")
    assert "step compiled again 5 times, 2 s: " in shell.run("for x in xs[3:]: step(x)").text
    assert shell.run("step(xs[1]);").text == ""


def test_the_line_names_all_causes_with_the_time_of_each(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """`%compiles` counts the recompiles of all causes: the figures are of one thing."""
    slow(monkeypatch, 1.5)
    shell.run("step(xs[0]);")
    said = shell.run("step(xs[1]); step(xs[3]); step(xs[4]);").text
    assert "step compiled again 3 times, 4.5 s: x is f32[11], was f32[10] (2 times, 3 s); x is int32, was" in said
    assert said.endswith("float32 (1.5 s). %compiles\n")
    assert "3 compiles, 4.5 s" in shell.run("%compiles").text


def test_the_line_names_every_function_that_recompiled(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    slow(monkeypatch, 0.6)
    shell.run("@jax.jit\ndef other(y): return y + 1\nstep(xs[0]), other(xs[0]);")
    said = shell.run("step(xs[1]), other(xs[1]);").text
    assert said.count("compiled again, 600 ms: ") == 2, "together more than a second"
    assert "step" in said and "other" in said
    assert shell.run("step(xs[2]);").text == "", "alone less than a second"


def test_no_line_where_it_is_off_or_cheap_or_of_ours(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    shell.run("step(xs[0]);")
    assert shell.run("step(xs[1]);").text == ""
    slow(monkeypatch, 1.5)
    assert shell.run("%compile -q step(xs[2])").text == ""
    shell.run("%config JAXStage.compile_notice = False")
    assert shell.run("step(xs[3]);").text == ""


def test_no_line_below_a_cell_that_shows_its_compiles_itself(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    slow(monkeypatch, 1.5)
    shell.run("step(xs[0]);")
    assert "compiled again" not in shell.run("%%compiles --expect 0\nstep(xs[1]);").text
    assert "compiled again" not in shell.run("step(xs[2]);\n%compiles").text
    assert "compiled again" in shell.run("step(xs[3]);").text


def test_the_line_of_a_cell_inside_another_is_the_outer_cells(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    slow(monkeypatch, 1.5)
    shell.run("step(xs[0]);")
    seen = shell.run("%%capture caught\nstep(xs[1]);")
    assert seen.text.count("compiled again") == 1


def test_a_log_of_ten_thousand_is_cut_to_its_newest_rows(shell: Shell) -> None:
    LOG.clear()
    for _ in range(10_000):
        LOG.add(compile_record(number=LOG.next_number(), cell=2))
    text = shell.run("%compiles all").text
    assert "9,960 earlier rows not shown" in text
    assert text.count("\n") < 250


def test_the_processes_are_asked_for_only_where_there_are_some(shell: Shell) -> None:
    seen = shell.run("%compiles --processes")
    assert not seen.ok and str(seen.error) == NO_JOB
    for line in ("--cell 2", "--function step", "--over 1s"):
        seen = shell.run(f"%compiles --processes {line}")
        assert isinstance(seen.error, UsageError) and line.split()[0] in str(seen.error)
    seen = shell.run("%%compiles --processes\n1")
    assert isinstance(seen.error, UsageError) and "--processes" in str(seen.error)
