"""Objects that JAX made of a function, on the line of a magic and as the last line of its cell."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from magic_shell import Shell, fresh_shell

LOSS = "loss(w: f32[4,3], x: f32[2,4]) -> f32[]"
OF_EXPORT = "loss(args[0]: f32[4,3], args[1]: f32[2,4]) -> f32[]"
MADE = """
import jax, jax.numpy as jnp
from jax import export
jitted = jax.jit(loss)
traced = jitted.trace(w, x)
lowered = traced.lower()
compiled = lowered.compile()
exported = export.export(jitted)(w, x)
(batch,) = export.symbolic_shape("batch")
polymorphic = export.export(jitted)(w, jax.ShapeDtypeStruct((batch, 4), jnp.float32))
closed = jax.make_jaxpr(loss)(w, x)
for_tpu = traced.lower(lowering_platforms=("tpu",))
"""


@pytest.fixture(scope="module")
def shell() -> Iterator[Shell]:
    with fresh_shell() as made:
        assert made.run(MADE).ok
        yield made


@pytest.mark.parametrize(
    ("cell", "panels"),
    [
        ("%compile traced", [LOSS]),
        ("%compile lowered", [LOSS]),
        ("%compile compiled", [LOSS]),
        ("%compile compiled(w, x)", [LOSS]),
        ("%compile exported", [OF_EXPORT]),
        ("%compile polymorphic --dim batch=2", [OF_EXPORT]),
        ("%compile closed", ["loss(w: f32[4,3], x: f32[2,4]) -> list of 1 leaf, 4 B"]),
        ("%%compile\nlowered", [LOSS]),
        ("%%compile\nlowered;", [LOSS]),
        ("%%compile\ncompiled(w, x)", [LOSS]),
        ("%%compile\njax.jit(loss).lower(w, x)", [LOSS]),
        ("%%trace\njax.jit(loss).trace(w, x)", [LOSS]),
        ("%%compile\njax.jit(loss).lower(w, x).compile()", [LOSS]),
        ("%%lower\nexport.export(jitted)(w, x)", [OF_EXPORT]),
        ("%%trace\njax.make_jaxpr(loss)(w, x)", ["loss(w: f32[4,3], x: f32[2,4]) -> list of 1 leaf, 4 B"]),
        ("%%compile\nmade = jax.jit(loss).lower(w, x)", [LOSS]),
    ],
)
def test_what_jax_made_is_staged(shell: Shell, cell: str, panels: list[str]) -> None:
    seen = shell.run(cell)
    assert seen.ok, seen.text
    assert seen.panels == panels


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ("%trace lowered", "a Lowered begins with the lower stage"),
        ("%lower compiled", "a Compiled begins with the compile stage"),
        ("%compile lowered -t v5e:2x2", "this Lowered is for cpu, and v5e:2x2 is a TPU; give its Traced"),
        ("%compile for_tpu", "this Lowered is for tpu, and this machine's device is a CPU; name a target"),
        ("%compile compiled -t cpu:8", "give its Lowered"),
        ("%compile compiled --xla cpu_enable_fast_math=true", "is compiled already"),
        ("%compile lowered --donate-argnums 0", "past jax.jit"),
        ("%compile polymorphic", "axis batch is symbolic: give a size with --dim batch=8"),
        ("%compile compiled(w, x[:1])", "compiled for x of shape (2, 4), and this has (1, 4)"),
        ("%%compile\ncompiled(w)", "structure"),
        ("%compile lowered --run", "are shapes"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(shell: Shell, cell: str, says: str) -> None:
    seen = shell.run(cell)
    assert not seen.ok
    assert says in seen.text
    assert "Traceback" not in seen.text


def test_a_compiled_object_runs_on_its_arguments(shell: Shell) -> None:
    assert shell.run("%%compile --run -o ins\nvalue = 0\ncompiled(w, x)").ok
    assert shell.run("assert ins.execute() == loss(w, x)").ok


def test_another_name_as_the_last_line_is_shown_as_it_is(shell: Shell) -> None:
    seen = shell.run("%%compile\ndef twice(w: Float[Array, '4 3']): return 2 * w\nnumber = 41 + 1\nnumber")
    assert seen.panels == ["twice(w: f32[4,3]) -> f32[4,3]"]
    assert seen.text.startswith("Out[") and ": 42" in seen.text.splitlines()[0]


def test_an_error_of_lower_is_that_of_the_user(shell: Shell) -> None:
    seen = shell.run("%%compile\njax.jit(loss).lower(w)")
    assert not seen.ok
    assert "missing" in seen.text
    assert "jaxstage_ext" not in seen.text
