"""Recompiles because of static arguments, options of `jax.jit`, configuration, caches and failures."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax._src import config

from jaxstage_ext.compilation.causes.cause import Cause
from jaxstage_ext.compilation.causes.causes import verdict
from tests.helpers.compile_records import BEGAN, compile_record, function_identity

X = np.ones(4, np.float32)


def power(x: Any, n: Any) -> Any:
    return x**n


def test_a_static_value(heard: Any) -> None:
    step = jax.jit(lambda x, n: x * n, static_argnums=1)
    step(X, 2), step(X, 3), step(X, 2)
    told = heard.last()
    assert heard.causes() == [Cause.FIRST, Cause.STATIC_VALUE]
    assert told.changes == [("n", "2", "3")]
    assert told.verdict.can_be_mended


def test_the_advice_for_a_static_number_mends_it(heard: Any) -> None:
    static = jax.jit(power, static_argnames="n")
    static(X, 2.0), static(X, n=3.0)
    assert heard.last("power").advice.code == "power = jax.jit(power)"
    traced = jax.jit(power)
    traced(X, 2.0), traced(X, 3.0), traced(X, 4.0)
    assert heard.count() == 3


def test_a_static_choice_needs_a_program_each(heard: Any) -> None:
    step = jax.jit(lambda x, mode: x, static_argnames="mode")
    step(X, mode="train"), step(X, mode="test")
    assert (heard.last().cause, heard.last().changes) == (Cause.STATIC_VALUE, [("mode", "'train'", "'test'")])
    assert not heard.last().verdict.can_be_mended


class ByIdentity:
    """A configuration without `__eq__`."""

    def __init__(self, scale: float) -> None:
        self.scale = scale


@dataclasses.dataclass(frozen=True)
class ByValue:
    """A configuration with `__eq__` and `__hash__`."""

    scale: float


def test_a_static_argument_compared_by_identity(heard: Any) -> None:
    step = jax.jit(lambda x, cfg: x * cfg.scale, static_argnames="cfg")
    step(X, ByIdentity(2.0)), step(X, ByIdentity(2.0))
    told = heard.last()
    assert told.cause is Cause.STATIC_IDENTITY
    assert told.changes == [("cfg", "ByIdentity", "ByIdentity")]
    assert all(name in told.advice.sentence for name in ("ByIdentity", "__eq__", "__hash__"))
    step(X, ByValue(2.0)), step(X, ByValue(2.0))  # the advice
    assert heard.count() == 3


def test_a_static_argument_with_another_value(heard: Any) -> None:
    step = jax.jit(lambda x, cfg: x * cfg.scale, static_argnames="cfg")
    step(X, ByValue(2.0)), step(X, ByValue(2.0)), step(X, ByValue(3.0))
    assert heard.causes() == [Cause.FIRST, Cause.STATIC_VALUE]
    assert heard.last().changes == [("cfg.scale", "2.0", "3.0")]


def test_a_static_function_made_anew(heard: Any) -> None:
    step = jax.jit(lambda x, f: f(x), static_argnums=1)
    for _ in range(2):
        step(X, lambda v: v + 1)
    assert heard.last().cause is Cause.STATIC_IDENTITY
    assert heard.last().changes == [("f", "function", "function")]


def test_a_broken_static_argument_is_not_asked_for_its_repr(heard: Any) -> None:
    class Broken:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    step = jax.jit(lambda x, cfg: x, static_argnames="cfg")
    step(X, cfg=Broken()), step(X, cfg=Broken())
    assert (heard.last().cause, heard.last().changes) == (Cause.STATIC_IDENTITY, [("cfg", "Broken", "Broken")])


def test_a_failing_eq_of_a_static_argument_is_no_blame(heard: Any) -> None:
    class Failing:
        is_broken = False

        def __hash__(self) -> int:
            return 1

        def __eq__(self, other: object) -> bool:
            if self.is_broken:
                raise RuntimeError("no")
            return False

    first, second = Failing(), Failing()
    step = jax.jit(lambda x, cfg: x, static_argnames="cfg")
    step(X, cfg=first), step(X, cfg=second)
    Failing.is_broken = True
    told = heard.last()
    assert told.cause is Cause.UNKNOWN
    assert told.changes == [("cfg", "Failing", "Failing")] and "cfg" in told.verdict.reason


def test_donation_is_an_option_of_jit(heard: Any) -> None:
    def step(x: Any) -> Any:
        return x * 2

    jax.jit(step)(jnp.ones(4))
    jax.jit(step, donate_argnums=0)(jnp.ones(4))
    told = heard.last("step")
    assert told.cause is Cause.JIT_OPTIONS
    assert told.changes[0] == ("donate_argnums", "()", "(0,)")
    assert heard.causes("step") == [Cause.FIRST, Cause.JIT_OPTIONS]


def test_the_same_options_do_not_compile_again(heard: Any) -> None:
    def step(x: Any) -> Any:
        return x * 2

    for _ in range(2):
        jax.jit(step, donate_argnums=0)(jnp.ones(4))
    assert heard.causes("step") == [Cause.FIRST]


def test_out_shardings_is_named(heard: Any) -> None:
    def step(x: Any) -> Any:
        return x * 2

    jax.jit(step)(X)
    jax.jit(step, out_shardings=jax.sharding.SingleDeviceSharding(jax.devices()[1]))(X)
    told = heard.last("step")
    assert (told.cause, told.changes) == (Cause.JIT_OPTIONS, [("out_shardings", "unspecified", "cpu:1")])


def test_a_compiler_option_is_named(heard: Any) -> None:
    def step(x: Any) -> Any:
        return x * 2

    jax.jit(step)(X)
    jax.jit(step, compiler_options={"xla_cpu_enable_fast_math": True})(X)
    told = heard.last("step")
    assert told.cause is Cause.JIT_OPTIONS
    assert told.changes == [("compiler_options['xla_cpu_enable_fast_math']", "", "True")]


def test_matmul_precision_by_name(heard: Any) -> None:
    step = jax.jit(lambda x: x @ x)
    step(X)
    with jax.default_matmul_precision("highest"):
        step(X)
    step(X)
    told = heard.last()
    assert heard.causes() == [Cause.FIRST, Cause.CONFIG]
    assert told.changes == [("jax_default_matmul_precision", "None", "'highest'")]


def test_x64_flipped(heard: Any) -> None:
    step = jax.jit(lambda x: x * 2)
    wide = np.ones(4)
    step(wide)
    with jax.enable_x64(True):
        step(wide)
    step(wide)
    told = heard.last()
    assert heard.causes() == [Cause.FIRST, Cause.CONFIG]
    assert told.changes == [("jax_enable_x64", "False", "True"), ("x", "float32", "float64")]
    assert told.advice.code == "jax.config.update('jax_enable_x64', True)"


def test_debugging_settings_do_not_compile(heard: Any) -> None:
    step = jax.jit(lambda x: x * 2)
    step(X)
    with jax.debug_nans(True), jax.named_scope("a"), jax.transfer_guard("allow"):
        step(X)
    assert heard.causes() == [Cause.FIRST]


def test_settings_that_an_import_adds_are_the_cause_not_a_cleared_cache(heard: Any) -> None:
    """As `jax._src.pallas.core` does when it is imported: a setting that JAX's caches are keyed by from then on."""
    step = jax.jit(lambda x: x * 2)
    step(X)
    config.config_ext.Config("pallas_for_a_test", None, include_in_jit_key=True, include_in_trace_context=True)
    step(X)
    told = heard.last()
    assert (told.cause, told.changes) == (Cause.SETTINGS_ADDED, [("pallas_for_a_test", "", "")])
    assert told.verdict.is_wasted and told.verdict.can_be_mended
    assert told.why == (
        "importing a module added settings to JAX (pallas_for_a_test), and every function compiles once more"
    )
    assert told.advice.code == "from jax.experimental import pallas"


def test_importing_pallas_first_avoids_it() -> None:
    code = "from jax.experimental import pallas\nimport jax\ntraced = []\n"
    code += "step = jax.jit(lambda x: traced.append(x) or x)\n"
    code += "step(1.0)\nimport jax.extend\nstep(1.0)\nprint(len(traced))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "1"


def test_cleared_caches(heard: Any) -> None:
    step = jax.jit(lambda x: x * 2)
    step(X)
    jax.clear_caches()
    step(X)
    told = heard.last()
    assert (told.cause, told.changes) == (Cause.CACHE_CLEARED, [("jax.clear_caches", "", "")])
    assert told.verdict.is_wasted and told.verdict.can_be_mended


def test_a_function_whose_own_cache_was_cleared(heard: Any) -> None:
    step = jax.jit(lambda x: x * 2)
    step(X)
    step.clear_cache()
    step(X)
    told = heard.last()
    assert told.cause is Cause.CACHE_CLEARED
    assert told.verdict.is_wasted


def test_another_shape_after_clearing_is_a_shape(heard: Any) -> None:
    step = jax.jit(lambda x: x * 2)
    step(X)
    jax.clear_caches()
    step(np.ones(7, np.float32))
    assert heard.last().cause is Cause.SHAPE


def test_a_call_that_failed_before(heard: Any) -> None:
    failing = True

    @jax.jit
    def step(x: Any) -> Any:
        if failing:
            raise ValueError("not yet")
        return x

    with pytest.raises(ValueError, match="not yet"):
        step(X)
    failing = False
    step(X)
    first, second = heard.all("step")
    assert first.record.failed and first.cause is Cause.FIRST
    assert second.cause is Cause.FAILED_BEFORE
    assert not second.verdict.is_wasted
    assert second.verdict.nearest == first.record.number and f"#{first.record.number}" in second.why


def test_ahead_of_time(heard: Any) -> None:
    step = jax.jit(lambda x: x * 2)
    step.lower(X).compile()
    assert set(heard.causes()) == {Cause.AHEAD_OF_TIME}
    before = heard.count()
    step(X)
    assert heard.count() == before or heard.last().cause is not Cause.FIRST


def test_two_threads_at_once() -> None:
    function = function_identity()
    first = compile_record(thread=1, function=function)
    second = compile_record(thread=2, function=function, began=BEGAN + 0.5)
    later = compile_record(thread=2, function=function, began=BEGAN + 99)
    assert verdict(second, [first]).cause is Cause.CONCURRENT
    assert verdict(later, [first]).cause is Cause.CACHE_CLEARED
