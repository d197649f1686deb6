"""Which operation of a run made the first NaN or infinity."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import jaxstage_ext


@pytest.fixture
def debug_nans() -> Iterator[None]:
    with jax.debug_nans(True):
        yield


def told(fn: Any, *args: Any) -> str:
    found = jaxstage_ext.inspect(fn, *args)
    with pytest.raises(FloatingPointError) as caught:
        found.execute()
    text = str(caught.value)
    assert "\n" not in text
    return re.sub(r"\S*test_nonfinite.py:\d+", lambda at: f"line {int(at[0].split(':')[1]) - LINE}", text)


@jax.jit
def root(x: Any) -> Any:
    return jnp.sqrt(x - 2)


def first_line(fn: Any) -> int:
    return int(fn.__code__.co_firstlineno) - LINE


LINE = root.__wrapped__.__code__.co_firstlineno


def model(x: Any) -> Any:
    y = root(x * 2)
    return jnp.log(y).sum()


@pytest.mark.usefixtures("debug_nans")
def test_the_operation_and_its_line_are_named_inside_of_jit_too() -> None:
    assert told(model, jnp.full(4, 0.5)) == "model made NaN, first in sqrt at line 2"
    assert told(jax.jit(model, donate_argnums=()), jnp.full(4, 0.5)) == "model made NaN, first in sqrt at line 2"


@pytest.mark.usefixtures("debug_nans")
def test_the_operation_in_a_loop_is_named_and_an_argument_by_its_name() -> None:
    def scanned(x: Any) -> Any:
        return jax.lax.scan(lambda c, y: (jnp.log(c) - y, None), x, jnp.full(5, 3.0), reverse=True)[0]

    def looped(x: Any) -> Any:
        return jax.lax.while_loop(lambda c: ~jnp.isnan(c).any(), lambda c: jnp.log(c) - 3, x)

    def branched(x: Any) -> Any:
        return jax.lax.cond(x[0] > 0, lambda x: jnp.sqrt(x - 5), lambda x: x, x)

    assert told(scanned, jnp.ones(3)) == f"scanned made NaN, first in log at line {first_line(scanned) + 1}"
    assert told(looped, jnp.ones(3)) == f"looped made NaN, first in log at line {first_line(looped) + 1}"
    assert told(branched, jnp.ones(3)) == f"branched made NaN, first in sqrt at line {first_line(branched) + 1}"
    with jax.debug_nans(False):
        x = {"a": jnp.ones(3), "b": jnp.full(3, jnp.nan)}
    assert told(lambda p: p["a"] + p["b"], x) == "<lambda> made NaN: p['b'] has it already"


@pytest.mark.usefixtures("debug_nans")
def test_callbacks_are_not_run_a_second_time() -> None:
    seen = []

    def noisy(x: Any) -> Any:
        jax.debug.callback(lambda v: seen.append(v), x)
        return jnp.log(-x)

    assert "finding it would run its callbacks once more" in told(noisy, jnp.ones(3))
    assert len(seen) == 1


def test_infinities_and_runs_without_the_setting() -> None:
    with jax.debug_infs(True):
        assert told(lambda x: 1 / x, jnp.zeros(2)).startswith("<lambda> made infinity, first in div at line")
    assert jnp.isinf(jaxstage_ext.inspect(lambda x: 1 / x, jnp.zeros(2)).execute()).all()


def _spread(x: Any) -> Any:
    return jnp.var(x) + jax.nn.logsumexp(x)


def _refuses_inspected(x: Any) -> None:
    told(lambda x: jnp.log(x).sum(), -x)


LOOKS: dict[str, Callable[[Any], Any]] = {
    "a run with NaN": _refuses_inspected,
    "a run": lambda x: jaxstage_ext.inspect(_spread, x).execute(),
    "a trace": lambda x: jaxstage_ext.inspect(_spread, x, stage="trace"),
    "a jaxpr": lambda x: jaxstage_ext.inspect(jax.make_jaxpr(jnp.tanh)(x), x),
    "a gradient": lambda x: jaxstage_ext.inspect(jax.grad(_spread), x),
    "a measurement": lambda x: jaxstage_ext.measure(jax.jit(_spread), x),
}


@pytest.mark.parametrize("flag", ["jax_debug_nans", "jax_debug_infs"])
@pytest.mark.parametrize("look", LOOKS)
def test_jax_goes_on_checking_calls_that_stay_in_cpp(look: str, flag: str) -> None:
    """In a thread of its own: a `with jax.debug_nans(...)` of JAX's ends the checks of the thread that it was in."""
    wrong = -jnp.ones(3) if flag == "jax_debug_nans" else jnp.zeros(3)
    jnp.log(wrong)

    def looked_and_called() -> None:
        jaxstage_ext.inspect(jnp.tanh, wrong)
        if look == "a run with NaN" and flag == "jax_debug_infs":
            with pytest.raises(FloatingPointError, match="infinity, first in log"):
                jaxstage_ext.inspect(jnp.log, wrong).execute()
        else:
            LOOKS[look](jnp.ones(3))
        with pytest.raises(FloatingPointError):
            jnp.log(wrong)

    jax.config.update(flag, True)
    try:
        with ThreadPoolExecutor(1) as threads:
            threads.submit(looked_and_called).result()
    finally:
        jax.config.update(flag, False)
