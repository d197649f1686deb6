"""A cell's last line that is more than a call: which call of it is inspected, and what is run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from magic_shell import Shell, fresh_shell

from jaxstage_ext.notebook.cells import part_wording

LOSS = "loss(w: f32[4,3], x: f32[2,4]) -> f32[]"
STEP = "step(w: f32[4,3], x: f32[2,4]) -> tuple of 3 leaves, 100 B"
SETUP = """\
import functools, numpy as np
class Named: pass
named, kept = Named(), {}
ran = []
@jax.jit
def step(w, x): return w - x.sum(), w, loss(w, x)
def make():
    ran.append("make")
    return jnp.ones((2, 4))
"""


@pytest.fixture(scope="module")
def shell() -> Iterator[Shell]:
    with fresh_shell() as made:
        assert made.run(SETUP).ok
        yield made


@pytest.mark.parametrize(
    ("line", "panels", "names"),
    [
        ("w2, (m, l) = step(w, x), (1, 2)", [STEP], ["w2, (m, l)"]),
        ("w2, m, l = step(w, x)", [STEP], ["w2, m, l"]),
        ("[w2, *rest] = step(w, x)", [STEP], ["[w2, *rest]"]),
        ("l: float = loss(w, x)", [LOSS], ["l"]),
        ("l += loss(w, x)", [LOSS], ["l"]),
        ("a = b = loss(w, x)", [LOSS], ["a", "b"]),
        ("named.l = loss(w, x)", [LOSS], ["named.l"]),
        ("kept['l'] = loss(w, x)", [LOSS], ["kept['l']"]),
        ("(l := loss(w, x))", [LOSS], ["l"]),
        ("l = float(jax.block_until_ready(loss(w, x)))", [LOSS], ["l"]),
        ("jax.block_until_ready(step(w, x))", [STEP], []),
        ("step(w, x)[2].block_until_ready()", [STEP], []),
        ("float(loss(w, x))", [LOSS], []),
        ("print(loss(w, x))", [LOSS], []),
        ("print('loss', float(loss(w, x)), len(kept))", [LOSS], []),
        ("np.asarray(loss(w, x))", [LOSS], []),
        ("f'{loss(w, x):.3f}'", [LOSS], []),
        ("loss(w, x) + jnp.sum(w)", [LOSS], []),
        ("loss(w, x), loss(w, 2 * x)", [LOSS, LOSS], []),
        ("l = max(loss(w, x), 0.0)", [LOSS], ["l"]),
    ],
)
def test_the_call_within_is_inspected_and_the_line_is_not_run(
    shell: Shell, line: str, panels: list[str], names: list[str]
) -> None:
    shell.run("l = 7.0")
    for name in ("w2", "m", "a", "b", "rest"):
        shell.ip.user_ns.pop(name, None)
    seen = shell.run(f"%%compile\n{line}")
    assert (seen.ok, seen.panels) == (True, panels)
    assert shell["l"] == 7.0
    assert not {"w2", "m", "a", "b", "rest"} & set(shell.ip.user_ns)
    said = seen.text.rstrip().split("\n")[-1]
    calls = ["step(w, x)"] if panels == [STEP] else ["loss(w, x)", "loss(w, 2 * x)"][: len(panels)]
    assert said == part_wording.told(calls, names, "%%compile --run")


def test_with_run_the_statement_is_run_with_the_executables_value(shell: Shell) -> None:
    assert shell.run("%%compile --run\nw2, (m, named.l), kept['l'] = step(w, x)[0], step(w, x)[1:], 3").ok
    assert shell.run("[w2.shape, m.shape, kept['l']]").value == [(4, 3), (4, 3), 3]
    assert float(shell["named"].l) == pytest.approx(5.995975)
    assert shell.run("%%compile --run\nfloat(loss(w, x))").value == pytest.approx(5.995975)  # sum of 6 tanh(4)
    assert "\n5.99" in shell.run("%%compile --run\nprint(loss(w, x))").text
    assert not [name for name in shell.ip.user_ns if name.startswith("_jaxstage")]


@pytest.mark.parametrize(
    ("cell", "panels"),
    [
        ("%%compile\ndef f(a: Float[Array, '3 3']): return a\nv = make()", ["f(a: f32[3,3]) -> f32[3,3]"]),
        ("%%compile\ndef f(a: Float[Array, '3 3']): return a\nv = jnp.ones(3)", ["f(a: f32[3,3]) -> f32[3,3]"]),
        ("%%compile --args 'f32[3]'\ndef f(a): return a\nv = step(w, x)", ["f(a: f32[3]) -> f32[3]"]),
        ("%%compile\ndef f(a: Float[Array, '3']): return a\nv = jax.jit(f)", None),
        ("%%compile\nv = jax.jit(loss).lower(w, x)", [LOSS]),
        ("%%compile --args 'f32[4,3], f32[2,4]'\nv = 1\nloss", [LOSS]),
    ],
)
def test_a_statement_that_prepares_is_run(shell: Shell, cell: str, panels: list[str] | None) -> None:
    shell.ip.user_ns.pop("v", None)
    seen = shell.run(cell)
    assert seen.ok and "v" in shell
    assert panels is None or seen.panels == panels


@pytest.mark.parametrize("line", ["v = 3", "v = [loss(w, x) for _ in range(2)]", "w"])
def test_where_there_is_no_call_to_inspect_it_is_told(shell: Shell, line: str) -> None:
    assert "nothing to compile in this cell" in shell.run(f"%%compile\n{line}").text


def test_a_name_is_shown_where_no_arguments_are_given(shell: Shell) -> None:
    seen = shell.run("%%compile loss(w, x)\nloss")
    assert callable(seen.value)
    assert seen.panels == [LOSS]


def test_trace_cannot_run_the_line_and_does_not_say_so(shell: Shell) -> None:
    said = shell.run("%%trace\nl = loss(w, x)").text
    assert part_wording.told(["loss(w, x)"], ["l"], "") in said and "--run" not in said


def test_only_the_functions_arguments_are_evaluated(shell: Shell) -> None:
    shell.run("ran.clear()")
    assert shell.run("%%trace\nl = float(loss(w, make()))").ok
    assert shell["ran"] == ["make"]


def test_the_cells_own_function_and_its_lines(shell: Shell) -> None:
    seen = shell.run("%%compile -o ins\ndef up(a):\n    return a + 1\ny = up(x)")
    assert seen.ok and seen.panels[0].startswith("up(a")
    span: Any = shell["ins"].documents["jaxpr"].source_of(2)
    assert span.line == 3
