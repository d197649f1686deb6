"""The work of a jaxpr, against XLA's analysis of the same program before it is optimised, and by hand."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest

from jaxstage_ext.analysis.cost import jaxpr_cost
from jaxstage_ext.analysis.cost.jaxpr_cost import Work
from tests.golden.record import load_programs

PROGRAMS = load_programs().PROGRAMS


def work(function: object, *arguments: object) -> Work:
    return jaxpr_cost.total(jax.make_jaxpr(function)(*arguments))


@pytest.mark.parametrize("name", ["small", "spread_out", "transformer_gradient", "conv"])
def test_against_xla_before_it_optimises(name: str) -> None:
    function, arguments = PROGRAMS[name]
    lowered = jax.jit(function).lower(*arguments)
    counted = lowered.cost_analysis()
    ours = jaxpr_cost.total(jax.jit(function).trace(*arguments).jaxpr)
    assert ours.flops == pytest.approx(counted["flops"], rel=0.01)
    assert ours.transcendentals == pytest.approx(counted.get("transcendentals", 0))
    assert ours.unknown == ()


def test_by_hand() -> None:
    a, b = jnp.ones((3, 5)), jnp.ones((5, 7))
    assert work(lambda a, b: a @ b, a, b) == Work(2 * 3 * 5 * 7)
    assert work(lambda a: a**3, a) == Work(2 * 15)
    assert work(jnp.tanh, a) == Work(0, 15)
    assert work(lambda a: a.reshape(5, 3).T, a) == Work()
    assert work(lambda a: jnp.sum(a, 0), a) == Work(15 - 5)


def test_a_scan_counts_its_length() -> None:
    def ten(x):
        return jax.lax.scan(lambda x, _: (x @ x, None), x, length=10)[0]

    assert work(ten, jnp.ones((4, 4))).flops == 10 * 2 * 4**3


def test_a_loop_of_unknown_length_counts_once_and_says_so() -> None:
    ours = work(lambda x: jax.lax.while_loop(lambda x: x.sum() < 9, lambda x: x * 2, x), jnp.ones(4))
    assert ours.flops == 4 + 3 + 1
    assert "unknown" in ours.unknown[0]


def test_the_dearer_branch_counts() -> None:
    ours = work(lambda p, x: jax.lax.cond(p, lambda x: x @ x, lambda x: x, x), True, jnp.ones((4, 4)))
    assert ours.flops == pytest.approx(2 * 4**3, abs=1)


def test_a_derivative_of_ones_own_counts_the_function() -> None:
    @jax.custom_jvp
    def double(x):
        return x * 2

    double.defjvp(lambda primals, tangents: (double(*primals), tangents[0] * 2))
    assert work(double, jnp.ones(8)) == Work(8)


def test_what_has_no_formula_is_said() -> None:
    ours = work(lambda x: jax.pure_callback(abs, jax.ShapeDtypeStruct((), jnp.float32), x), jnp.float32(1))
    assert ours.unknown == ("pure_callback has no formula",)
    assert any("iterates until it converges" in why for why in work(jnp.linalg.eigh, jnp.ones((4, 4))).unknown)
