"""The options that XLA is given, and what set each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from absent import needs
from jax._src import compiler
from jaxlib import xla_client

import jaxstage_ext
from jaxstage_ext.core.jax_private import jax_options
from jaxstage_ext.report.unavailable import Unavailable

X = jnp.ones(8)
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


def test_what_jax_tells_other_backends_is_not_listed() -> None:
    """JAX gives every program the place of the CUDA toolkit that is installed."""
    found = rows(jaxstage_ext.inspect(loss, jnp.ones(8)))
    assert not [name for name, origin in found if name.startswith(("xla_gpu_", "xla_tpu_")) and origin == "JAX"]
    assert {setter for (_, origin), (_, setter, _) in found.items() if origin == "JAX"} == {"JAX"}


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
        flags = jax_options.compile_options()
    assert flags != jax_options.compile_options()
    named = {name for (name, origin) in rows(inspection) if origin == "jax.config"}
    assert named == {LEVEL, "xla_llvm_disable_expensive_passes", "xla_test_all_input_layouts"}


def test_flags_that_came_too_late_do_nothing_and_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", f"--{FAST}=true --xla_gpu_enable_triton_gemm=false")
    found = rows(jaxstage_ext.inspect(loss, jnp.ones(8)))
    assert "XLA had read XLA_FLAGS before it was set, and has False" in found[FAST, "XLA_FLAGS"][2]
    assert "it does nothing here" in found[FAST, "XLA_FLAGS"][2]
    assert "GPU" in found["xla_gpu_enable_triton_gemm", "XLA_FLAGS"][2]


def test_of_a_flag_that_is_set_twice_the_last_one_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", f"--{FAST}=true --{FAST}=false --xla_cpu_max_isa=AVX2")
    table = jaxstage_ext.inspect(loss, jnp.ones(8)).options
    notes = [row["note"] for row in table.rows() if row["option"] == FAST]
    assert notes == ["XLA_FLAGS sets it again to false, which hides this", ""]
    [isa] = [row for row in table.rows() if row["option"] == "xla_cpu_max_isa"]
    assert isa["default"] == "(empty)"
    assert "and has (empty)" in isa["note"]


def test_libtpu_s_own_flags_are_those_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    needs("v5e:2x2")
    monkeypatch.setenv("LIBTPU_INIT_ARGS", "--xla_tpu_scoped_vmem_limit_kib=20000")
    found = rows(jaxstage_ext.inspect(loss, jnp.ones((8, 128)), target="v5e:2x2"))
    assert found["xla_tpu_scoped_vmem_limit_kib", "environment"][:2] == ("20000", "LIBTPU_INIT_ARGS")
    assert not any(setter == "LIBTPU_INIT_ARGS" for _, setter, _ in rows(jaxstage_ext.inspect(loss, X)).values())


def test_a_variable_of_jax_is_the_environment_until_jax_config_changes_the_entry(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """JAX has read its variables when it was imported: an entry with the variable's value is taken to be its."""
    monkeypatch.setenv("JAX_OPTIMIZATION_LEVEL", "O1")
    with configured(jax_optimization_level="O1"):
        inspection = jaxstage_ext.inspect(loss, jnp.ones(10))
    monkeypatch.delenv("JAX_OPTIMIZATION_LEVEL")
    assert rows(inspection)["optimization_level", "environment"][:2] == ("19 (O1)", "JAX_OPTIMIZATION_LEVEL")
    with configured(jax_optimization_level="O3"):
        later = rows(jaxstage_ext.inspect(loss, jnp.ones(11)))
    assert later["optimization_level", "jax.config"][:2] == ("39 (O3)", "jax_optimization_level")


def test_every_field_that_the_compiler_was_given_and_differs_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The oracle is the CompileOptions that JAX hands to XLA, field by field against that of XLA's own making."""
    given: list[bytes] = []
    whole = compiler.compile_or_get_cached

    def watched(backend: Any, module: Any, devices: Any, options: Any, *rest: Any) -> Any:
        given.append(options.SerializeAsString())
        return whole(backend, module, devices, options, *rest)

    monkeypatch.setattr(compiler, "compile_or_get_cached", watched)
    with configured(jax_memory_fitting_level="O1", jax_xla_profile_version=7, jax_disable_most_optimizations=True):
        table = jaxstage_ext.inspect(lambda x: jnp.cos(x) + 3, jnp.ones(12)).options
    made, plain = xla_client.CompileOptions.ParseFromString(given[-1]), xla_client.CompileOptions()
    build, other = made.executable_build_options, plain.executable_build_options
    of_devices = ("device_assignment", "allow_spmd", "num_", "debug_options", "profile_version")
    names = [name for name in dir(build) if not name.startswith(("_", *of_devices)) and name.islower()]
    differing = {name for name in names if str(getattr(build, name)) != str(getattr(other, name))}
    flags = {
        name
        for name in dir(build.debug_options)
        if name.startswith("xla_") and getattr(build.debug_options, name) != getattr(other.debug_options, name)
    } - {"xla_gpu_cuda_data_dir"}  # the place of a CUDA toolkit, of which a CPU reads nothing
    assert set(table["option"]) - {"profile_version"} == differing | flags | {"xla_test_all_input_layouts"}
    values = dict(zip(table["option"], table["value"], strict=True))
    assert values["profile_version"] == str(made.profile_version) == "7"
    assert values["memory_fitting_level"] == "19 (O1)"


def test_an_executable_does_not_say_its_options() -> None:
    with pytest.raises(Unavailable, match="its compile options are unknown"):
        _ = jaxstage_ext.inspect(jax.jit(loss).lower(jnp.ones(8)).compile()).options
