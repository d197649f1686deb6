"""`%%profile` and `%profile` in a real shell: what they run, how often, and what they show."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import pytest
from helpers.magic_shell import Seen, Shell, fresh_shell
from jax._src import compiler

from jaxstage_ext.core.jax_private import profiler
from jaxstage_ext.profiling.analysis import timeline_facts
from jaxstage_ext.profiling.capture.capture_facts import FirstRun
from jaxstage_ext.program.kinds.recorded_program import RecordedProgram
from jaxstage_ext.report.recording import EventKind

MODEL = """\
ran = []
@jax.jit
def step(w, x):
    return w - 0.1 * jax.grad(loss)(w, x)
donating = jax.jit(lambda s, x: s + x.sum(), donate_argnums=0)
def plain(w, x):
    ran.append(1)
    return step(w, x).sum()
"""


@pytest.fixture
def shell() -> Iterator[Shell]:
    with fresh_shell() as shell:
        assert shell.run(MODEL).ok
        yield shell
        assert not profiler.session_runs(), "a session was left open"


def profiled(shell: Shell, cell: str) -> Any:
    """The Inspection that a cell binds to `p`."""
    seen = shell.run(cell)
    assert seen.ok, seen.text
    return shell["p"]


def kinds(inspection: Any) -> set[EventKind]:
    return {EventKind(kind) for kind in inspection.timeline.columns.kind.tolist()}


def why(seen: Seen) -> str:
    assert type(seen.error).__name__ == "UsageError", seen.text
    text = str(seen.error)
    assert "\n" not in text
    return text


def test_a_jitted_call_has_its_inspection_and_its_timeline(shell: Shell) -> None:
    p = profiled(shell, "%%profile -o p\nstep(w, x)")
    assert list(p.documents) == ["python", "jaxpr", "stablehlo", "hlo"]
    assert p.summary()["open"] == "timeline" and "answers" in p.summary()["views"]
    assert p.timeline.attributed > 0.95 and p.timeline.headline.line.startswith("In [")
    assert p.program.captured.first_run is FirstRun.LEFT_OUT
    assert EventKind.COMPILE not in kinds(p)
    rows = p.timeline.places.row
    assert (rows >= 0).all(), "every op stands in the HLO document that is shown"


def test_what_ran_is_what_is_shown(shell: Shell) -> None:
    """Each op that ran is an instruction of the optimised module of the Inspection, by its name."""
    p = profiled(shell, "%%profile -o p\nstep(w, x)")
    text = p.compiled.as_text()
    ran = p.timeline.recording.ops.name
    assert len(ran) and all(f"%{op} = " in text for op in ran)


def test_it_is_compiled_once(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[int] = []
    original = compiler.backend_compile_and_load

    def counted(*args: Any, **kwargs: Any) -> Any:
        compiled.append(1)
        return original(*args, **kwargs)

    monkeypatch.setattr(compiler, "backend_compile_and_load", counted)
    profiled(shell, "%%profile -o p\njax.jit(lambda w, x: (x @ w).sum() * 17)(w, x)")
    assert len(compiled) == 1


def test_the_value_is_that_of_the_cell(shell: Shell) -> None:
    assert shell.run("%%profile\nplain(w, x)").value == shell.run("plain(w, x)").value
    assert shell.run("%%profile\nstep(w, x).sum();").value is None
    assert shell.run("%profile step(w, x)").value.shape == (4, 3)
    assert shell.run("q = %profile step(w, x)").ok
    assert shell["q"].timeline is not None


def test_python_code_runs_once(shell: Shell) -> None:
    p = profiled(shell, "%%profile -o p\nplain(w, x)")
    assert shell["ran"] == [1]
    assert isinstance(p.program, RecordedProgram) and p.program.captured.first_run is FirstRun.UNKNOWN
    assert EventKind.COMPILE in kinds(p)
    assert any("--warm" in note for note in p.summary()["notes"])
    warm = profiled(shell, "%%profile -o p --warm\nplain(w, x)")
    assert shell["ran"] == [1, 1, 1]
    assert not any("--warm" in note for note in warm.summary()["notes"])
    assert warm.documents["hlo"].text.startswith("HloModule jit_step")
    assert "def step" in warm.documents["python"].text


def test_a_loop_is_profiled_as_written(shell: Shell) -> None:
    p = profiled(shell, "%%profile -o p\nfor i in range(3):\n    w = step(w, x)\n    ran.append(i)")
    assert shell["ran"] == [0, 1, 2]
    assert p.name == "for i in range(3)"
    assert p.timeline.by_line()["line"][0].startswith("In [")


def test_steps_run_as_often_as_asked(shell: Shell) -> None:
    p = profiled(shell, "%%profile -o p -n 4\nplain(w, x)")
    assert len(shell["ran"]) == 5, "once before, unprofiled"
    assert list(p.timeline.steps()["step"]) == [f"step {i}" for i in range(4)]
    profiled(shell, "%%profile -o p -n 4 --cold\nplain(w, x)")
    assert len(shell["ran"]) == 9


def test_arguments_that_call_are_made_anew_for_each_step(shell: Shell) -> None:
    assert shell.run("it = iter(range(100))\ndef batch():\n    return x * next(it)").ok
    profiled(shell, "%%profile -o p -n 3\nstep(w, batch())")
    assert next(shell["it"]) == 4, "one for the Inspection and the warm-up, then one a step"
    profiled(shell, "%%profile -o p\nstep(w, batch())")
    assert next(shell["it"]) == 6, "a single run takes those of the Inspection"


def test_donated_arguments_are_run_once_and_the_result_is_not_lost(shell: Shell) -> None:
    assert shell.run("s = jnp.ones(1000)").ok
    seen = shell.run("%%profile -o p\ndonating(s, x)")
    assert float(seen.value[0]) == 9.0 and shell["s"].is_deleted()
    assert shell["p"].program.captured.first_run is FirstRun.DONATES
    assert not any("compile" in event for event in shell["p"].timeline.compiles()["event"]), "it was, for .documents"
    assert "deleted" in why(shell.run("%%profile\ndonating(s, x)"))
    assert shell.run("s = jnp.ones(1000)").ok
    assert "donates" in why(shell.run("%%profile -n 3\ndonating(s, x)"))
    assert not shell["s"].is_deleted(), "nothing ran"
    assert shell.run("%%profile -n 3\ns = donating(s, x)").ok
    assert float(shell["s"][0]) == 33.0


def test_a_function_with_side_effects_runs_once(shell: Shell) -> None:
    assert shell.run("seen = []\nprinting = jax.jit(lambda x: (jax.debug.callback(seen.append, x.sum()), x * 2)[1])").ok
    p = profiled(shell, "%%profile -o p\nprinting(x)")
    assert len(shell["seen"]) == 1
    assert p.program.captured.first_run is FirstRun.EFFECTS


def test_static_arguments(shell: Shell) -> None:
    assert shell.run("import functools\npower = jax.jit(lambda x, n: x ** n, static_argnums=1)").ok
    p = profiled(shell, "%%profile -o p\npower(x, 3)")
    assert p.timeline.recording.ops.name
    assert p.summary()["signature"].startswith("power(x: f32[2,4], n=3)")


def test_an_error_in_the_middle_keeps_what_was_recorded(shell: Shell) -> None:
    seen = shell.run("%%profile -o p\nfor i in range(3):\n    step(w, x).block_until_ready()\n    if i == 1: 1 / 0")
    assert isinstance(seen.error, ZeroDivisionError)
    assert "1 / 0" in seen.text.replace("1/0", "1 / 0") and "ZeroDivisionError after" in seen.text
    assert "notebook/" not in seen.text, "the traceback is that of an ordinary cell"
    assert EventKind.OP in kinds(shell["p"])


def test_an_interrupt_keeps_what_was_recorded(shell: Shell) -> None:
    shell.run("%%profile -o p\nstep(w, x).block_until_ready()\nraise KeyboardInterrupt")
    seen = shell.run(
        "%%profile -o p\nfor i in range(2):\n    step(w, x).block_until_ready()\n    raise KeyboardInterrupt"
    )
    assert "KeyboardInterrupt" in seen.text
    assert EventKind.OP in kinds(shell["p"])


def test_another_profiler_is_in_the_way_and_survives(shell: Shell, tmp_path: Path) -> None:
    jax.profiler.start_trace(str(tmp_path))
    try:
        assert "stop_trace" in why(shell.run("%%profile\nplain(w, x)"))
        assert "stop_trace" in why(shell.run("%%profile\nstep(w, x)"))
        assert not shell["ran"]
    finally:
        jax.profiler.stop_trace()
    assert list(tmp_path.rglob("*.xplane.pb"))


def test_eager_code_is_said_to_be(shell: Shell) -> None:
    cell = "%%profile -o p --warm\nfor _ in range(4):\n    y = jnp.sin(x) + jnp.cos(x) * 2 - jnp.exp(x)"
    p = profiled(shell, cell)
    assert any("op by op" in note for note in p.summary()["notes"])
    jitted = profiled(shell, "%%profile -o p --warm\nfor _ in range(20):\n    w = step(w, x)")
    assert not any("op by op" in note for note in jitted.summary()["notes"])


def test_a_wait_after_a_loop_is_profiled_with_the_loop(shell: Shell) -> None:
    p = profiled(shell, "%%profile -o p --warm\ny = w\nfor _ in range(3):\n    y = step(y, x)\ny.block_until_ready()")
    assert p.timeline.by_line()["line"][0].startswith("In [")
    p = profiled(shell, "%%profile -o p\nran.clear()\nplain(w, x).block_until_ready()")
    assert shell["ran"] == [1], "a wait that has its own call stands alone"


def test_a_jitted_function_of_few_ops_is_not_called_op_by_op(shell: Shell) -> None:
    assert shell.run("few = jax.jit(lambda x: jnp.tanh(x @ x.T).sum())\nbig = jnp.ones((300, 300))\nacc = 0.0").ok
    p = profiled(shell, "%%profile -o p --warm\nfor _ in range(20):\n    acc = acc + few(big)")
    assert p.program.captured.eager == 0


def test_input_of_the_user_s_own_generator_is_input(shell: Shell) -> None:
    """A generator that sleeps is what the loop waits for, however busy the machine is."""
    assert shell.run("import time\ndef draws():\n    for _ in range(5):\n        time.sleep(0.1)\n        yield x").ok
    p = profiled(shell, "%%profile -o p --warm\nfor batch in draws():\n    w = step(w, batch)")
    assert p.timeline.headline.doing.is_input
    assert "fetches input: it runs time.sleep(0.1)" in str(p.timeline)


def test_several_devices(shell: Shell) -> None:
    assert shell.run(
        "mesh = jax.make_mesh((4,), ('d',), devices=jax.devices()[:4])\n"
        "from jax.sharding import PartitionSpec as P\n"
        "@jax.jit\n"
        "@jax.shard_map(mesh=mesh, in_specs=P('d'), out_specs=P())\n"
        "def total(x):\n"
        "    return jax.lax.psum(x.sum(), 'd')\n"
        "big = jax.device_put(jnp.ones((64, 64)), jax.sharding.NamedSharding(mesh, P('d')))\n"
        "mapped = jax.pmap(lambda x: jax.lax.psum(x, 'i'), axis_name='i', devices=jax.devices()[:4])"
    ).ok
    p = profiled(shell, "%%profile -o p\ntotal(big)")
    assert set(p.timeline.columns.device[p.timeline.columns.op >= 0].tolist()) == {0, 1, 2, 3}
    busy = {row["activity"]: row["busy"] for row in p.timeline.by_kind().rows()}
    assert busy["collective"] > 0
    p = profiled(shell, "%%profile -o p\nmapped(jnp.ones((4, 64)))")
    assert set(p.timeline.columns.device[p.timeline.columns.op >= 0].tolist()) == {0, 1, 2, 3}


def test_a_cell_that_awaits(shell: Shell) -> None:
    assert shell.run("import asyncio\nasync def fetched():\n    await asyncio.sleep(0)\n    return plain(w, x)").ok
    p = profiled(shell, "%%profile -o p\nawait fetched()")
    assert p.name == "await fetched()" and EventKind.OP in kinds(p)
    p = profiled(shell, "%%profile -o p\nawait asyncio.sleep(0)\nstep(w, x)")
    assert "jaxpr" in p.documents
    p = profiled(shell, "%%profile -o p\nstep(await asyncio.sleep(0, w), x)")
    assert EventKind.OP in kinds(p)


def test_the_profile_is_saved_where_asked(shell: Shell, tmp_path: Path) -> None:
    seen = shell.run(f"%%profile --save {tmp_path}\nstep(w, x)")
    [file] = tmp_path.rglob("*.xplane.pb")
    assert str(file) in seen.text
    assert file.parent.parent == tmp_path / "plugins" / "profile", "where XProf looks"
    jax.profiler.ProfileData.from_file(str(file))
    again = shell.run(f"%%profile --save {tmp_path}\nstep(w, x)")
    assert len(list(tmp_path.rglob("*.xplane.pb"))) == 2, again.text
    (tmp_path / "file").write_text("")
    assert "cannot be saved" in why(shell.run(f"%%profile --save {tmp_path / 'file'}\nstep(w, x)"))


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("%%profile -t v5e:2x2\nstep(w, x)", "not run"),
        ("%%profile --nonsense\nstep(w, x)", "unknown option"),
        ("%%profile --command-buffers off\nstep(w, x)", "kernel runs on cpu"),
        ("%%profile --command-buffers off\nplain(w, x)", "jitted"),
        ("%%profile --command-buffers on\nstep(w, x)", "'on' is not off"),
        ("%%profile --warm --cold\nstep(w, x)", "exclude"),
        ("%%profile -n 0\nstep(w, x)", "'0' is not a number"),
        ("%%profile\ndef f(): pass", "nothing to profile"),
        ("%%profile\n%%compile\nstep(w, x)", "above"),
        ("%profile", "name a call"),
        ("%profile step", "'step' is not a call"),
        ("%profile step(jax.ShapeDtypeStruct((4, 3), 'f4'), x)", "are shapes"),
        ("%profile --measure -n 3 step(w, x)", "--steps is for a timeline"),
        ("%profile --mode wall step(w, x)", "--measure"),
        ("%profile --measure --warm step(w, x)", "--warm is for a timeline"),
        ("%profile --measure 1 + 1", "one call"),
        ("%profile --measure donating(w[0], x)", "donates"),
    ],
)
def test_mistakes_are_one_line_each(shell: Shell, cell: str, said: str) -> None:
    assert said in why(shell.run(cell))


@pytest.mark.filterwarnings("ignore:`Completer.complete` is pending")
def test_the_options_are_completed_but_for_those_that_are_refused(shell: Shell) -> None:
    shell.ip.Completer.use_jedi = False
    matches = shell.ip.complete("", "%%profile --", 12)[1]
    assert "--steps" in matches and "--save" in matches and "--target" not in matches


def test_the_help_says_how_often_code_runs(shell: Shell) -> None:
    text = shell.ip.find_line_magic("profile").__doc__
    assert "--warm" in text and "donates" in text and "--target" not in text


def test_a_clock_is_in_hertz(shell: Shell) -> None:
    assert "'1.98' is not a clock in hertz, such as 1.98e9" in why(shell.run("%profile --sm-clock 1.98 step(w, x)"))
    p = profiled(shell, "%%profile --sm-clock 1.98e9 -o p\nstep(w, x)")
    assert p.timeline.attributed > 0.95


def test_a_loop_is_one_step_and_as_many_runs_as_it_has_calls(shell: Shell) -> None:
    assert shell.run("step(w, x)").ok
    of_loop = profiled(shell, "%%profile -q -o p\nfor _ in range(5):\n    w = step(w, x)")
    assert timeline_facts.window_text(of_loop.timeline).endswith("; 1 step, 5 runs of XLA modules")
    of_call = profiled(shell, "%%profile -q -n 3 -o p\nstep(w, x)")
    assert timeline_facts.window_text(of_call.timeline).endswith("; 3 steps")
