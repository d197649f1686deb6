"""Refs are effects, and what they hold afterwards is a result with a name.

What is known: the jaxpr's own effects (`jax.make_jaxpr(f)(...).effects`), and what
the compiled module gives.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxstage_ext import inspect

new_ref = getattr(jax, "new_ref", None) or jax.array_ref  # type: ignore[attr-defined]
X = jnp.ones(3)


def accumulated(r: Any, x: Any) -> Any:
    r[...] += x
    return r[...].sum()


def rows(fn: Any, *args: Any) -> list[tuple[str, str, int | None]]:
    table = inspect(jax.jit(fn), *args).effects
    runs = [None if value is None else int(value) for value in table["runs"]]
    return list(zip(table["effect"], table["what"], runs, strict=True))


def test_an_argument_s_reads_and_writes_are_effects_with_their_lines() -> None:
    ref = new_ref(jnp.zeros(3))
    inspection = inspect(jax.jit(accumulated), ref, X)
    kinds = {type(effect).__name__.removesuffix("Effect") for effect in jax.make_jaxpr(accumulated)(ref, X).effects}
    assert set(inspection.effects["effect"]) == kinds == {"Read", "Write"}
    first = accumulated.__code__.co_firstlineno
    assert [str(line).rpartition(":")[2] for line in inspection.effects["line"]] == [
        str(first + 1),
        str(first + 1),
        str(first + 2),
    ]
    assert "No callbacks, no effects" not in str(inspection.effects)
    assert set(inspection.effects["what"]) == {"reads r, a Ref of the caller's", "writes r, a Ref of the caller's"}


def test_the_contents_afterwards_are_a_result_with_a_name() -> None:
    inspection = inspect(jax.jit(accumulated), new_ref(jnp.zeros(3)), X)
    assert [value.name for value in inspection.shardings.values] == ["r", "x", "result", "r (new contents)"]
    assert list(inspection.layouts.values["value"]) == ["r", "x", "result", "r (new contents)"]
    assert all("(new contents)" in name or name == "result" for name in inspection.memory.entry.results)


def test_a_ref_of_a_closure_is_named_and_is_no_constant() -> None:
    state = SimpleNamespace(count=new_ref(jnp.zeros(3)))

    def stored(x: Any) -> Any:
        state.count[...] = x
        return x * 2

    inspection = inspect(jax.jit(stored), X)
    assert list(inspection.effects["what"]) == ["writes state.count, a Ref of the caller's"]
    names = [value.name for value in inspection.shardings.values]
    assert names == ["x", "state.count", "result", "state.count (new contents)"]
    assert list(inspection.layouts.values["value"]) == names
    assert inspection.memory.entry.constants == ()
    np.testing.assert_allclose(state.count[...], 0)


def test_reads_and_writes_inside_loops_branches_and_jitted_functions() -> None:
    ref = new_ref(jnp.zeros(3))

    def step(x: Any) -> Any:
        def body(carry: Any, _: Any) -> Any:
            ref[...] += carry
            return carry + 1, None

        x, _ = jax.lax.scan(body, x, None, length=5)
        jax.lax.cond(x[0] > 1, lambda: ref.__setitem__(..., x), lambda: None)
        jax.jit(lambda inner: inner.__setitem__((0,), 1.0))(ref)
        return x

    assert rows(step, X) == [
        ("Read", "reads ref, a Ref of the caller's", 5),
        ("Write", "writes ref, a Ref of the caller's", 5),
        ("Write", "writes ref, a Ref of the caller's", None),
        ("Write", "writes ref, a Ref of the caller's", 1),
    ]


@pytest.mark.parametrize("by", ["read", "closure"])
def test_a_ref_that_is_only_read(by: str) -> None:
    ref = new_ref(jnp.zeros(3))
    found = rows(lambda r: r[...] * 2, ref) if by == "read" else rows(lambda x: ref[...] * x, X)
    assert [effect for effect, *_ in found] == ["Read"]


def test_a_ref_of_the_program_s_own_is_no_effect_outside() -> None:
    def own(x: Any) -> Any:
        r = new_ref(x)
        r[...] += 1
        return r[...]

    assert [effect for effect, *_ in rows(own, X)] == ["mutable array"]
