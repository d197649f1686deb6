"""The options that XLA is given, and what set each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import jaxstage_ext
from jaxstage_ext.core import jax_private
from jaxstage_ext.report.unavailable import Unavailable

LEVEL, FAST = "xla_backend_optimization_level", "xla_cpu_enable_fast_min_max"


def loss(x: Any) -> Any:
    return jnp.tanh(x).sum()


def rows(inspection: Any) -> dict[tuple[str, str], tuple[str, str, str]]:
    """(value, what set it, note) by (option, where from)."""
    table = inspection.options
    names = zip(table["option"], table["from"], strict=True)
    return dict(zip(names, zip(table["value"], table["set by"], table["note"], strict=True), strict=True))


@contextmanager
def configured(**entries: Any) -> Iterator[None]:
    before = {name: jax.config.values[name] for name in entries}
    for name, value in entries.items():
        jax.config.update(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            jax.config.update(name, value)


def test_where_nothing_is_set_nobody_set_it() -> None:
    origins = {origin for _, origin in rows(jaxstage_ext.inspect(loss, jnp.ones(8)))}
    assert origins <= {"JAX", "XLA_FLAGS"}


def test_the_call_stands_above_jit_and_hides_it() -> None:
    jitted = jax.jit(loss, compiler_options={FAST: True, LEVEL: 1})
    found = rows(jaxstage_ext.inspect(jitted, jnp.ones(8), compiler_options={LEVEL: 2}))
    assert found[LEVEL, "this call"] == ("2", "compiler_options", "jax.jit set it to 1, which this hides")
    assert found[FAST, "jax.jit"] == ("True", "compiler_options", "")
    assert (LEVEL, "jax.jit") not in found


def test_an_entry_of_jax_config_is_said_with_what_it_implies() -> None:
    with configured(jax_disable_most_optimizations=True, jax_compiler_enable_remat_pass=False):
        inspection = jaxstage_ext.inspect(loss, jnp.ones(8))
    found = rows(inspection)
    assert found[LEVEL, "jax.config"][:2] == ("0", "jax_disable_most_optimizations")
    assert found["xla_llvm_disable_expensive_passes", "jax.config"][:2] == ("True", "jax_disable_most_optimizations")
    assert found["xla_disable_hlo_passes", "jax.config"][:2] == ("rematerialization", "jax_compiler_enable_remat_pass")
    assert not any(origin == "jax.config" for _, origin in rows(jaxstage_ext.inspect(loss, jnp.ones(9))))


def test_what_xla_was_given_is_what_jax_gives_it() -> None:
    """The oracle is the serialised message that JAX makes of the same configuration."""
    with configured(jax_disable_most_optimizations=True):
        inspection = jaxstage_ext.inspect(loss, jnp.ones(8))
        flags = jax_private.compile_options()
    assert flags != jax_private.compile_options()
    named = {name for (name, origin) in rows(inspection) if origin == "jax.config"}
    assert named == {LEVEL, "xla_llvm_disable_expensive_passes", "xla_test_all_input_layouts"}


def test_flags_that_came_too_late_do_nothing_and_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", f"--{FAST}=true --xla_gpu_enable_triton_gemm=false")
    found = rows(jaxstage_ext.inspect(loss, jnp.ones(8)))
    assert "XLA had read XLA_FLAGS before it was set, and has False" in found[FAST, "XLA_FLAGS"][2]
    assert "GPU" in found["xla_gpu_enable_triton_gemm", "XLA_FLAGS"][2]


def test_an_executable_does_not_say_its_options() -> None:
    with pytest.raises(Unavailable, match="its compile options are unknown"):
        _ = jaxstage_ext.inspect(jax.jit(loss).lower(jnp.ones(8)).compile()).options
