"""Recompiles because of where arguments lie, on several devices."""

from __future__ import annotations

import itertools
from typing import Any

import jax
import numpy as np
import pytest
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


ONE = {
    "uncommitted": lambda of: X,
    "a device": lambda of: jax.device_put(X, jax.devices()[0]),
    "a mesh of one device": lambda of: jax.device_put(X, NamedSharding(of, P("data"))),
}


@pytest.mark.parametrize("kind", [AxisType.Auto, AxisType.Explicit])
@pytest.mark.parametrize(("first", "second"), list(itertools.permutations(ONE, 2)))
def test_a_mesh_of_one_device_keeps_its_sharding_in_the_advice(heard: Any, first: str, second: str, kind: Any) -> None:
    """Advice as pasted: after it both calls compile one program between them, and no sharding is lost."""
    of = jax.make_mesh((1,), ("data",), axis_types=(kind,), devices=jax.devices()[:1])
    step = jax.jit(lambda x: x * 2)
    values = [ONE[first](of), ONE[second](of)]
    step(values[0]), step(values[1])
    told = heard.last()
    assert told.cause in (Cause.PLACEMENT, Cause.SHARDING_TYPE)
    mended = [told.mended(x=value, mesh=of) for value in values]
    if "a mesh of one device" in (first, second):
        assert ["P('data') on mesh (data=1) of cpu:0" in told.changes[0][1:]] == [True]
        assert {value.sharding for value in mended} == {NamedSharding(of, P("data"))}
    count = heard.count()
    again = jax.jit(lambda x: x * 3)
    again(mended[0]), again(mended[1])
    assert heard.count() == count + 1
