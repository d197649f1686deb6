"""What a loop repeats: found where the optimised program still has it in the loop, and computing it before pays."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxstage_ext import inspect
from jaxstage_ext.findings.compute import repeated_work
from jaxstage_ext.findings.finding import TrialOutcome

X, A = jax.ShapeDtypeStruct((512,), jnp.float32), jax.ShapeDtypeStruct((512, 512), jnp.float32)
STEPS = 50


def looped(x: Any, a: Any) -> Any:
    return jax.lax.scan(lambda c, _: (jnp.tanh(jnp.linalg.cholesky(a @ a.T) @ c), None), x, None, length=STEPS)[0]


def before(x: Any, a: Any) -> Any:
    factor = jnp.linalg.cholesky(a @ a.T)
    return jax.lax.scan(lambda c, _: (jnp.tanh(factor @ c), None), x, None, length=STEPS)[0]


def while_loop(x: Any, a: Any) -> Any:
    """How often it runs is not known."""
    return jax.lax.while_loop(lambda c: c[0] < 1, lambda c: jnp.tanh(jnp.linalg.cholesky(a @ a.T)) @ c, x)


def checkpointed(x: Any, a: Any) -> Any:
    def loss(x: Any, a: Any) -> Any:
        step = jax.checkpoint(lambda c, _: (jnp.tanh(jnp.tanh(a @ a) @ c), None))
        return jax.lax.scan(step, x, None, length=STEPS)[0].sum()

    return jax.grad(loss)(x, a)


def zeros_of_an_inner_loop(x: Any, a: Any) -> Any:
    """XLA fills what the inner loop writes its results to in each iteration; keeping zeros would copy them."""

    def step(a: Any, _: Any) -> Any:
        total, rows = jax.lax.scan(lambda c, row: (jnp.tanh(c + row), jnp.sin(c * row)), x, a)
        return rows + total, None

    return jax.lax.scan(step, a, None, length=STEPS)[0]


def changing(x: Any, a: Any) -> Any:
    def step(carry: Any, _: Any) -> Any:
        c, a = carry
        return (jnp.tanh(jnp.linalg.cholesky(a @ a.T) @ c), a + 1), None

    return jax.lax.scan(step, (x, a), None, length=STEPS)[0][0]


def random_each_time(x: Any, a: Any) -> Any:
    keys = jax.random.split(jax.random.key(0), STEPS)
    return jax.lax.scan(lambda c, key: (jnp.tanh((a + jax.random.normal(key, a.shape)) @ c), None), x, keys)[0]


def found(fn: Any, target: str) -> list[Any]:
    return list(repeated_work.find(inspect(fn, X, A, target=target).program))


def test_moving_it_out_of_the_loop_pays() -> None:
    # known by reading the function: a product and a factorisation in each of 50 iterations
    ins = inspect(looped, X, A, target="h100")
    [finding] = [one for one in ins.findings if one.kind is repeated_work.DETECTOR.kind]
    assert "cholesky" in finding.text and f"{STEPS}" in finding.text
    assert finding.line.endswith(f"test_repeated_work.py:{looped.__code__.co_firstlineno + 1}")
    made = finding.try_()
    assert made.outcome is TrialOutcome.PAYS
    assert finding.stake.least <= made.realised <= finding.stake.most
    assert repeated_work.find(made.after) == []


@pytest.mark.parametrize("target", ["h100", "v5e:2x2"])
@pytest.mark.parametrize("fn", [before, changing, random_each_time])
def test_loops_without_repeated_work(fn: Any, target: str) -> None:
    assert found(fn, target) == []


@pytest.mark.parametrize("target", ["cpu:1", "h100", "v5e:1x1"])
def test_filling_an_array_is_no_work_to_keep(target: str) -> None:
    assert found(zeros_of_an_inner_loop, target) == []


def test_what_the_compiler_moves_out_itself_is_not_found() -> None:
    # XLA for CPU moves the product out: no dot of two matrices is left in the loop's body
    assert (
        found(lambda x, a: jax.lax.scan(lambda c, _: (jnp.tanh(a @ a @ c), None), x, None, length=9)[0], "cpu:1") == []
    )


@pytest.mark.once("figures of a device that is not here: the newest compilers answer")
def test_on_a_tpu() -> None:
    [finding] = found(looped, "v5e:2x2")
    assert 0 < finding.stake.least < finding.stake.most


def test_loop_of_unknown_length_has_an_unknown_stake_and_no_trial() -> None:
    [finding] = found(while_loop, "h100")
    assert finding.stake.most is None
    assert not finding.can_be_tried


def test_inside_a_checkpoint_it_is_found_and_cannot_be_moved_mechanically() -> None:
    [finding] = found(checkpointed, "cpu:1")
    assert not finding.can_be_tried


def rejected_steps(x: Any, a: Any) -> Any:
    """As solvers of differential equations do: the factorisation stands in a branch, of a matrix that never changes."""

    def step(c: Any, i: Any) -> Any:
        return jax.lax.cond(i % 3 == 0, lambda c: jnp.linalg.solve(a @ a.T, c), lambda c: c * 0.5, c), None

    return jax.lax.scan(step, x, jnp.arange(STEPS))[0]


def factorised_before(x: Any, a: Any) -> Any:
    factors = jax.scipy.linalg.lu_factor(a @ a.T)

    def step(c: Any, i: Any) -> Any:
        solve = lambda c: jax.scipy.linalg.lu_solve(factors, c)  # noqa: E731
        return jax.lax.cond(i % 3 == 0, solve, lambda c: c * 0.5, c), None

    return jax.lax.scan(step, x, jnp.arange(STEPS))[0]


@pytest.mark.parametrize("target", ["cpu:1", "h100", "v5e:1x1"])
def test_in_a_branch_of_a_loop(target: str) -> None:
    """Known by reading the functions. How often the branch is taken is known only in a run."""
    [finding] = found(rejected_steps, target)
    assert "lu" in finding.text
    assert finding.line.endswith(f"test_repeated_work.py:{rejected_steps.__code__.co_firstlineno + 4}")
    assert finding.stake.most is None and not finding.can_be_tried
    assert found(factorised_before, target) == []
