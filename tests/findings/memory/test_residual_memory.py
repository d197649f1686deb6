"""What a differentiated scan stacks, where `jax.checkpoint` around its body stacks less."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxstage_ext import inspect
from jaxstage_ext.findings.finding import TrialOutcome
from jaxstage_ext.findings.finding_kind import FindingKind

N, STEPS = 128, 64
STATE = N * N * 4


def recurrent(w: Any, xs: Any) -> Any:
    def body(h: Any, x: Any) -> Any:
        inner = jnp.tanh(h @ w + x)
        gate = jnp.sin(inner) * jnp.cos(h)
        return gate * inner, None

    h, _ = jax.lax.scan(body, xs[0], xs)
    return jnp.sum(h**2)


def checkpointed(w: Any, xs: Any) -> Any:
    @jax.checkpoint
    def body(h: Any, x: Any) -> Any:
        inner = jnp.tanh(h @ w + x)
        return jnp.sin(inner) * jnp.cos(h) * inner, None

    return jnp.sum(jax.lax.scan(body, xs[0], xs)[0] ** 2)


def linear(w: Any, xs: Any) -> Any:
    """Its backward pass needs the carry alone, which a checkpoint would keep too."""
    return jnp.sum(jax.lax.scan(lambda h, x: (h @ w + x, None), xs[0], xs)[0] ** 2)


def f32(*shape: int) -> Any:
    return jax.ShapeDtypeStruct(shape, jnp.float32)


ARGUMENTS = (f32(N, N), f32(STEPS, N, N))


def of(function: Any, *arguments: Any, **options: Any) -> Any:
    ins = inspect(function, *arguments, **options)
    found = ins.findings
    assert FindingKind.RESIDUALS in found.looked
    return [one for one in found if one.kind is FindingKind.RESIDUALS], ins


@pytest.fixture(scope="module")
def of_recurrent() -> Any:
    [one], ins = of(jax.grad(recurrent), *ARGUMENTS)
    return one, ins


def test_trying_it_saves_what_is_said(of_recurrent: Any) -> None:
    """A checkpoint keeps one carry an iteration, of what is stacked now; JAX's own checkpoint saves the same."""
    one, _ = of_recurrent
    assert one.stake.most % (STEPS * STATE) == 0
    trial = one.try_()
    assert trial.outcome is TrialOutcome.PAYS
    assert trial.realised == pytest.approx(one.stake.most, rel=0.05)
    by_hand = of(jax.grad(checkpointed), *ARGUMENTS)[1].memory.fit.needed
    assert trial.inspection.memory.fit.needed == pytest.approx(by_hand, rel=0.05)


def test_the_diff_wraps_the_body_at_the_line_of_the_scan(of_recurrent: Any) -> None:
    one, _ = of_recurrent
    assert int(one.line.rpartition(":")[2]) == recurrent.__code__.co_firstlineno + 6
    assert "+    h, _ = jax.lax.scan(jax.checkpoint(body, prevent_cse=False), xs[0], xs)" in one.change.code


def test_the_changed_program_gives_the_same(of_recurrent: Any) -> None:
    """By running both."""
    one, ins = of_recurrent
    r = np.random.default_rng(0)
    w, xs = r.random((N, N), np.float32) / N, r.random((STEPS, N, N), np.float32)
    changed = one.change.stage(ins.program.staged).value("lower").compile()(w, xs)
    np.testing.assert_allclose(changed, jax.jit(jax.grad(recurrent))(w, xs), rtol=1e-5)


def test_inside_jitted_functions_and_with_several_gradients() -> None:
    [one], ins = of(jax.value_and_grad(jax.jit(recurrent), (0, 1)), *ARGUMENTS)
    assert one.stake.most >= STEPS * STATE
    assert one.change.stage(ins.program.staged).value("lower") is not None


@pytest.mark.parametrize("function", [jax.grad(checkpointed), jax.grad(linear), recurrent])
def test_twins_have_no_finding(function: Any) -> None:
    assert of(function, *ARGUMENTS)[0] == []


@pytest.mark.parametrize("target", ["v5e:1x1", "h100"])
def test_on_a_device_that_is_not_here(target: str) -> None:
    [one], _ = of(jax.grad(recurrent), f32(512, 512), f32(512, 512, 512), target=target)
    known = one.stake.whole is not None  # JAX 0.10 does not say what an executable for an absent device takes
    assert one.try_().outcome is (TrialOutcome.PAYS if known else TrialOutcome.UNKNOWN)


def test_what_stays_in_a_tpu_s_vector_memory_is_no_finding() -> None:
    """XLA keeps the stacks of 4 MB in VMEM: a checkpoint saves nothing of the memory needed."""
    assert of(jax.grad(recurrent), *ARGUMENTS, target="v5e:1x1")[0] == []
