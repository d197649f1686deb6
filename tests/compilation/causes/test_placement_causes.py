"""Recompiles because of where arguments lie, on several devices."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

from jaxstage_ext.compilation.causes.cause import Cause

X = np.ones(4, np.float32)


def mesh(kind: Any = AxisType.Auto) -> Any:
    return jax.make_mesh((4,), ("data",), axis_types=(kind,))


def test_committed_to_a_device(heard: Any) -> None:
    step = jax.jit(lambda x: x * 2)
    step(X)
    step(jax.device_put(X, jax.devices()[0]))
    told = heard.last()
    assert (told.cause, told.changes) == (Cause.PLACEMENT, [("x", "uncommitted", "cpu:0")])
    assert told.advice.code == "jax.device_put(x, jax.devices('cpu')[0])"
    step(told.mended(x=X))
    assert heard.count() == 2


def test_an_uncommitted_array_of_jax_does_not_compile(heard: Any) -> None:
    step = jax.jit(lambda x: x * 2)
    step(X)
    step(jax.numpy.asarray(X))
    assert heard.causes() == [Cause.FIRST]


def test_another_device(heard: Any) -> None:
    step = jax.jit(lambda x: x * 2)
    step(jax.device_put(X, jax.devices()[0]))
    step(jax.device_put(X, jax.devices()[1]))
    told = heard.last()
    assert (told.cause, told.changes) == (Cause.OTHER_DEVICE, [("x", "cpu:0", "cpu:1")])
    assert told.record.stages[0].stage.value == "compile"


def test_sharded_over_an_automatic_axis(heard: Any) -> None:
    step = jax.jit(lambda x: x * 2)
    step(X)
    step(jax.device_put(X, NamedSharding(mesh(), P("data"))))
    told = heard.last()
    assert told.cause is Cause.SHARDING_TYPE
    assert told.changes == [("x", "uncommitted", "P('data') on mesh (data=4)")]
    assert told.advice.code == "jax.device_put(x, NamedSharding(mesh, P('data')))"
    step(told.mended(x=X, mesh=mesh()))
    assert heard.count() == 2


def test_a_compile_ahead_of_time_from_a_shape_without_a_sharding(heard: Any) -> None:
    """The call puts its batch where it belongs already: what lacks the sharding is the shape."""
    step = jax.jit(lambda batch: batch * 2)
    batch = jax.device_put(X, NamedSharding(mesh(), P("data")))
    step.lower(jax.ShapeDtypeStruct(batch.shape, batch.dtype)).compile()
    step(batch)
    told = heard.last()
    assert told.cause is Cause.SHARDING_TYPE
    assert "device_put" not in told.advice.code
    assert told.advice.code == "jax.ShapeDtypeStruct(batch.shape, batch.dtype, sharding=batch.sharding)"
    step = jax.jit(lambda batch: batch * 3)
    ahead = heard.count()
    step.lower(told.mended(batch=batch)).compile()
    step(batch)
    assert heard.count() == ahead + 1  # the call finds what was compiled


def test_a_compile_ahead_of_time_with_a_sharding_that_the_call_lacks(heard: Any) -> None:
    step = jax.jit(lambda batch: batch * 2)
    step.lower(jax.ShapeDtypeStruct(X.shape, X.dtype, sharding=NamedSharding(mesh(), P("data")))).compile()
    step(X)
    assert "device_put" in heard.last().advice.code


def test_the_sharding_of_an_explicit_mesh_is_part_of_the_type(heard: Any) -> None:
    step = jax.jit(lambda x: x * 2)
    explicit = mesh(AxisType.Explicit)
    step(jax.device_put(X, NamedSharding(explicit, P("data"))))
    step(jax.device_put(X, NamedSharding(explicit, P())))
    told = heard.last()
    assert told.cause is Cause.SHARDING_TYPE
    assert told.changes == [("x", "P('data') on mesh (data=4)", "P() on mesh (data=4)")]
    assert told.advice.code == "jax.device_put(x, NamedSharding(mesh, P('data')))"
    step(told.mended(x=X, mesh=explicit))
    assert heard.count() == 2


def test_another_partition_of_the_same_automatic_mesh(heard: Any) -> None:
    step = jax.jit(lambda x: x * 2)
    step(jax.device_put(np.ones((4, 4)), NamedSharding(mesh(), P("data", None))))
    step(jax.device_put(np.ones((4, 4)), NamedSharding(mesh(), P(None, "data"))))
    told = heard.last()
    assert told.cause is Cause.PLACEMENT
    assert told.changes == [("x", "P('data', None) on mesh (data=4)", "P(None, 'data') on mesh (data=4)")]


def test_the_same_sharding_does_not_compile(heard: Any) -> None:
    step = jax.jit(lambda x: x * 2)
    for _ in range(2):
        step(jax.device_put(X, NamedSharding(mesh(), P("data"))))
    assert heard.causes() == [Cause.FIRST]


def test_a_mesh_that_was_set(heard: Any) -> None:
    step = jax.jit(lambda x: x * 2)
    step(X)
    with jax.set_mesh(mesh()):
        step(X)
    told = heard.last()
    assert told.cause is Cause.CONFIG
    assert told.changes == [("abstract_mesh_context_manager", "none", "Mesh(data=4)")]
