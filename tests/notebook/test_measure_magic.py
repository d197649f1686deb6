"""`%profile --measure` and `%targets --measure` in a real IPython shell."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from IPython.core.error import UsageError
from magic_shell import Shell, fresh_shell

from jaxstage_ext.core.targets import machine_ceilings
from jaxstage_ext.core.targets.machine_ceilings import MachineCeilings
from jaxstage_ext.profiling.timing import measure_ceilings
from jaxstage_ext.profiling.timing.timing_modes import TimingMode

DEFINED = """
import jax, jax.numpy as jnp
def f(x, k=1.0):
    return x @ x * k
def drawn(data, x):
    return x * next(data)
step = jax.jit(lambda state, x: state + x, donate_argnums=0)
x = jnp.ones((8, 8))
"""


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    yield
    machine_ceilings.forget()


@pytest.fixture(scope="module")
def defined() -> Iterator[Shell]:
    with fresh_shell() as made:
        made.run(DEFINED)
        yield made


def test_a_line_gives_a_timing_and_a_cell_the_outputs(defined: Shell) -> None:
    seen = defined.run("t = %profile --measure --runs 7 f(x, k=2.0)")
    assert "f: wall median" in seen.text
    assert (defined["t"].title, defined["t"].mode, defined["t"].runs) == ("f", TimingMode.WALL, 7)
    seen = defined.run("%%profile --measure --runs 2 -o t2 -q\nf(x)")
    assert (seen.value.shape, defined["t2"].runs) == ((8, 8), 2)
    assert "median" not in seen.text


def test_a_function_without_arrays_runs_as_it_is_and_is_not_traced(defined: Shell) -> None:
    defined.run("seen = []\ndef once():\n    seen.append(type(x @ x).__name__)\n    return float((x @ x)[0, 0])")
    shown = defined.run("t = %profile --measure --runs 3 once()")
    assert "not jitted" in shown.text and defined["t"].runs == 3
    assert len(defined["seen"]) >= 3 and set(defined["seen"]) == {"ArrayImpl"}


def test_setup_makes_donated_arguments_before_every_run(defined: Shell) -> None:
    defined.run("made = []")
    defined.run('t = %profile --measure --runs 3 --setup "made.append(0); s = jnp.ones((8, 8))" step(s, x)')
    assert defined["t"].runs == 3
    assert len(defined["made"]) >= 3 + len(defined["t"].warm_up)


def test_kernels_on_request(defined: Shell) -> None:
    defined.run("t = %profile --measure --mode kernels --per-kernel --runs 2 f(x)")
    assert defined["t"].kernels


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--measure drawn(open, x)", "was jitted to be measured"),
        ("--measure --mode gpu f(x)", "gpu"),
        ("--measure --mode span --per-kernel f(x)", "a span is one time"),
        ("--mode wall f(x)", "--mode is for --measure"),
        ("--measure -n 3 f(x)", "--steps is for a timeline"),
        ("--measure step(jnp.ones((8, 8)), x)", "donates"),
        ("--measure 3", "not a call"),
        ("--measure print(x)", "not a JAX function"),
        ('--measure --setup "s = " step(s, x)', "is not Python"),
    ],
)
def test_a_mistake_is_one_line(defined: Shell, line: str, message: str) -> None:
    error = defined.run(f"%profile {line}").error
    assert isinstance(error, UsageError)
    assert message in str(error)
    assert "\n" not in str(error)


def test_targets_measures_this_machine(
    defined: Shell, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    measured = MachineCeilings({"f32": 1e11}, 1e10, 1 << 20, 1e11, (), "a CPU", 2, "2026-11-22")
    monkeypatch.setattr(measure_ceilings, "measure_ceilings", lambda: measured)
    defined.ip.run_line_magic("targets", "--measure")
    said = capsys.readouterr().out
    assert "100 GFLOP/s" in said
    assert "inspected from now on" in said
