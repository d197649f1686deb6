"""Replicas, partitions, device assignment, effort levels: stated, held against the program, shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from IPython.core.error import UsageError
from jax.sharding import PartitionSpec as P
from magic_shell import Shell, fresh_shell

import jaxstage_ext
from jaxstage_ext.core.jax_private import jax_options
from jaxstage_ext.core.options.build_options import BuildOptionError
from jaxstage_ext.core.options.flag_values import check

X = jax.ShapeDtypeStruct((8, 4), jnp.float32)
ON_MESH: dict[str, Any] = {"target": "cpu:4", "mesh": "data=4", "in_specs": (P("data"),)}


def inspected(target: str = "cpu:4", **options: Any) -> Any:
    return jaxstage_ext.inspect(lambda x: x.sum(), X, compiler_options=options, **ON_MESH | {"target": target})


@pytest.fixture(scope="module")
def shell() -> Iterator[Shell]:
    with fresh_shell() as made:
        yield made


def test_what_agrees_is_taken_and_shown() -> None:
    inspection = inspected(num_replicas=1, num_partitions=4, device_assignment=(3, 1, 2, 0))
    assert inspection.summary()["options"] == {
        "num_replicas": 1, "num_partitions": 4, "device_assignment": "3,1,2,0",
    }  # fmt: skip
    assert "num_partitions=4" in inspection.documents["hlo"].text


@pytest.mark.parametrize(
    ("options", "target", "told"),
    [
        ({"num_partitions": 2}, "cpu:4", "num_partitions=2, but the program has 4"),
        ({"device_assignment": "0,1"}, "cpu:4", "device_assignment has 2 devices, but the program has 4"),
        ({"device_assignment": "0,1,2,4"}, "cpu:4", "names device 4, but the target has 0 to 3"),
    ],
)
def test_what_contradicts_the_program_is_told(options: dict[str, Any], target: str, told: str) -> None:
    with pytest.raises(BuildOptionError, match=told):
        inspected(target, **options)


def test_local_takes_the_devices_of_its_mesh() -> None:
    with pytest.raises(BuildOptionError, match="needs a target other than local"):
        jaxstage_ext.inspect(lambda x: x + 1, X, compiler_options={"device_assignment": [0]})
    with pytest.raises(BuildOptionError, match="num_partitions=8, but the program has 1"):
        jaxstage_ext.inspect(lambda x: x + 1, X, compiler_options={"num_partitions": 8})


def test_effort_levels_compile_where_jax_takes_them() -> None:
    for name, value in (("optimization_level", "O1"), ("memory_fitting_level", 29)):
        for target in ("local", "cpu:1"):
            options = check({name: value})
            inspection = jaxstage_ext.inspect(lambda x: x + 1, X, compiler_options=options, target=target)
            assert inspection.summary()["options"] == options
    taken = jax_options.sets_itself("memory_fitting_effort", 0.5)
    if taken:
        assert check({"memory_fitting_effort": "0.5"}) == {"memory_fitting_effort": 0.5}
        with pytest.raises(ValueError, match="memory_fitting_effort must be a number from -1 to 1, not 7"):
            check({"memory_fitting_effort": 7})
    else:
        with pytest.raises(ValueError, match="memory_fitting_effort cannot be set with JAX"):
            check({"memory_fitting_effort": 0.5})


def test_the_line_takes_them(shell: Shell) -> None:
    line = "%compile -o ins -t cpu:4 --mesh data=4 --in-spec \"P(), P('data')\" "
    seen = shell.run(line + "--num-partitions 4 --device-assignment 3,2,1,0 loss(w, jnp.ones((4, 4)))")
    assert seen.ok, seen.text
    assert "options num_partitions=4 · device_assignment=3,2,1,0" in seen.text
    for wrong, told in (
        ("--num-replicas 2", "num_replicas=2: JAX compiles for one replica"),
        ("--num-partitions many", "num_partitions must be a positive integer, not 'many'"),
        ("--xla num_partitions=2 --num-partitions 2", "num_partitions is set twice"),
    ):
        seen = shell.run(f"%compile {wrong} loss(w, x)")
        assert isinstance(seen.error, UsageError)
        assert told in str(seen.error)
