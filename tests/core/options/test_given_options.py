"""Options are those that XLA was given at the compile that made the executable.

The oracle is what JAX hands to XLA: the CompileOptions that `backend_compile_and_load` gets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from absent import needs
from jax._src import compiler
from jaxlib import xla_client

import jaxstage_ext
from jaxstage_ext.compilation.events import listening

LEVEL, LOGGING, COMMAND_BUFFER = (
    "xla_backend_optimization_level",
    "xla_detailed_logging",
    "xla_gpu_enable_command_buffer",
)


@pytest.fixture(autouse=True)
def plain_configuration() -> Iterator[None]:
    names = ("jax_disable_most_optimizations", "jax_enable_pgle")
    before = {name: jax.config.values[name] for name in names}
    jaxstage_ext.inspect(lambda x: x, 1.0)  # nothing that is loaded at a first look makes JAX compile anew
    yield
    for name, value in before.items():
        jax.config.update(name, value)


@pytest.fixture
def handed_over(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What XLA is given, compile by compile."""
    given: list[Any] = []
    whole = compiler.backend_compile_and_load

    def watched(backend: Any, module: Any, devices: Any, options: Any, *rest: Any) -> Any:
        given.append(xla_client.CompileOptions.ParseFromString(options.SerializeAsString()))
        return whole(backend, module, devices, options, *rest)

    monkeypatch.setattr(compiler, "backend_compile_and_load", watched)
    return given


def values(inspection: Any) -> dict[str, str]:
    table = inspection.options
    return dict(zip(table["option"], table["value"], strict=True))


def compiled_before(function: Callable[..., Any], x: Any) -> Any:
    jitted = jax.jit(function)
    jitted(x)
    return jitted


@pytest.fixture
def unheard() -> Iterator[None]:
    """Nobody listens to the compiles of the test's own calls."""
    was_on = listening.is_on()
    listening.stop()
    yield
    if was_on:
        listening.start()


def test_a_cached_executable_has_the_options_of_the_compile_that_made_it(handed_over: list[Any]) -> None:
    listening.start()
    x = np.ones((3, 3))
    compiled_before(lambda x: x - 1, x)
    handed_over.clear()
    jitted = compiled_before(lambda x: jnp.sin(x) @ x - 1, x)
    jax.config.update("jax_disable_most_optimizations", True)
    inspection = jaxstage_ext.inspect(jitted, x)
    assert len(handed_over) == 1, "JAX takes the executable that it has"
    assert handed_over[0].executable_build_options.debug_options.xla_backend_optimization_level == 3
    assert LEVEL not in values(inspection)
    assert "jax.config" not in list(inspection.options["from"])


@pytest.mark.usefixtures("unheard")
def test_where_nobody_recorded_the_compile_its_configuration_is_unknown(handed_over: list[Any]) -> None:
    x = np.ones((3, 3))
    jitted = compiled_before(lambda x: jnp.sin(x) @ x - 2, x)
    jax.config.update("jax_disable_most_optimizations", True)
    table = jaxstage_ext.inspect(jitted, x).options
    assert len(handed_over) == 1
    assert LEVEL not in list(table["option"])
    assert "What jax.config set is unknown" in str(table)
    assert "All other options have XLA's defaults" not in str(table)


def test_our_own_kept_executable_has_its_options_too() -> None:
    def again() -> Any:
        return lambda x: jnp.sin(x) * 41 - 3

    x = jnp.ones((3, 3))
    jax.config.update("jax_disable_most_optimizations", True)
    assert values(jaxstage_ext.inspect(again(), x))[LEVEL] == "0"
    assert values(jaxstage_ext.inspect(again(), x))[LEVEL] == "0"
    jax.config.update("jax_disable_most_optimizations", False)
    assert LEVEL not in values(jaxstage_ext.inspect(again(), x)), "other options, another executable"


def test_a_small_program_s_logging_is_listed(handed_over: list[Any]) -> None:
    """JAX 0.12 gives XLA False for it where a program is small; XLA's own default is True."""
    found = values(jaxstage_ext.inspect(lambda x: x * 2, jnp.ones(31)))
    given = handed_over[-1].executable_build_options.debug_options.xla_detailed_logging
    plain = xla_client.CompileOptions().executable_build_options.debug_options.xla_detailed_logging
    assert found.get(LOGGING) == (None if given == plain else str(given))
    expected = values(jaxstage_ext.inspect(lambda x: x * 2, jnp.ones(32), stage="lower"))
    assert expected.get(LOGGING) == found.get(LOGGING), "the same before the compile"


def test_the_profile_version_is_that_of_the_backend(monkeypatch: pytest.MonkeyPatch, handed_over: list[Any]) -> None:
    monkeypatch.setattr(compiler, "get_latest_profile_version", lambda backend: 7)
    found = values(jaxstage_ext.inspect(lambda x: x * 3, jnp.ones(33)))
    assert found["profile_version"] == str(handed_over[-1].profile_version) == "7"


@pytest.mark.filterwarnings("ignore:PGLE collected an empty trace")
def test_compiling_for_a_profile_leaves_its_trace(handed_over: list[Any]) -> None:
    jax.config.update("jax_enable_pgle", True)
    found = values(jaxstage_ext.inspect(lambda x: x * 4, jnp.ones(34)))
    assert dict(handed_over[-1].env_option_overrides) == {COMMAND_BUFFER: ""}
    assert found[COMMAND_BUFFER] == "(empty)"
    jax.config.update("jax_enable_pgle", False)
    assert COMMAND_BUFFER not in values(jaxstage_ext.inspect(lambda x: x * 6, jnp.ones(36)))


def test_an_absent_target_s_options_are_those_that_its_worker_got() -> None:
    needs("v5e:2x2")
    jax.config.update("jax_disable_most_optimizations", True)
    inspection = jaxstage_ext.inspect(lambda x: jnp.tanh(x) - 5, jnp.ones((8, 128)), target="v5e:2x2")
    jax.config.update("jax_disable_most_optimizations", False)
    assert values(inspection)[LEVEL] == "0"


def test_what_the_partitioner_may_choose_is_listed_for_several_devices() -> None:
    mesh = jax.sharding.Mesh(jax.devices()[:2], ("d",))
    given = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("d"))
    found = values(jaxstage_ext.inspect(lambda x: x + 7, jax.device_put(jnp.ones(8), given)))
    assert found["allow_spmd_sharding_propagation_to_output"] == "True"
    assert "allow_spmd_sharding_propagation_to_parameters" not in found
    jitted = jax.jit(lambda x: x + 8, out_shardings=given)
    assert not [
        name for name in values(jaxstage_ext.inspect(jitted, jax.device_put(jnp.ones(8), given))) if "propag" in name
    ]
