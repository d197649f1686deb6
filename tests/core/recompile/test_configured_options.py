"""What is recompiled for a view is the program that was compiled, whatever `jax.config` says by then."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxstage_ext import inspect
from jaxstage_ext.api.inspection import Inspection
from jaxstage_ext.core.recompile import preparation
from jaxstage_ext.report.unavailable import Unavailable

pytestmark = pytest.mark.usefixtures("no_workers_left")

LOOKS: dict[str, Callable[[Inspection], Any]] = {
    "passes": lambda inspection: inspection.passes,
    "memory": lambda inspection: inspection.memory,
    "kernels": lambda inspection: inspection.kernels,
}
CONFIG = {
    "jax_disable_most_optimizations": True,
    "jax_optimization_level": "O1",
    "jax_memory_fitting_level": "O3",
    "jax_xla_profile_version": 7,
}


@pytest.fixture
def restored() -> Iterator[None]:
    before = {name: jax.config.values[name] for name in CONFIG}
    yield
    for name, value in before.items():
        jax.config.update(name, value)


def program(x: jax.Array) -> jax.Array:
    return jnp.tanh(x @ x).sum() + jnp.exp(x).sum()


@pytest.mark.usefixtures("restored")
@pytest.mark.parametrize("name", CONFIG)
@pytest.mark.parametrize("look", LOOKS)
def test_a_view_refuses_to_recompile_with_other_options(look: str, name: str) -> None:
    inspection = inspect(program, jnp.ones((32, 32)))
    before = jax.config.values[name]
    jax.config.update(name, CONFIG[name])
    change = f"{name} was {before!r}, is {CONFIG[name]!r}"
    with pytest.raises(Unavailable, match=f"{change}.*inspect the function once more"):
        LOOKS[look](inspection)
    jax.config.update(name, before)
    assert LOOKS[look](inspection) is not None


@pytest.mark.usefixtures("restored")
def test_what_was_inspected_since_has_the_options_of_now() -> None:
    keys = []
    for name in (None, *CONFIG):
        if name is not None:
            jax.config.update(name, CONFIG[name])
        keys.append(preparation.prepared(inspect(program, jnp.ones((32, 32))).program.staged).key("passes"))
    assert None not in keys and len(set(keys)) == len(keys)
