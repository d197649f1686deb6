"""Programs opened for other layouts: what is the user's stays, what cannot be searched says so, results follow."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

from jaxstage_ext import inspect
from jaxstage_ext.ir.partitioning.module_layout import ModuleLayout
from jaxstage_ext.ir.partitioning.partitioned_module import PartitionedModule
from jaxstage_ext.program.questions.partitioned import SearchableProgram, Unsearchable, partitioner_of
from jaxstage_ext.program.questions.partitioned_wording import NotSearchable


def shape(*sizes: int, sharding: Any = None) -> Any:
    return jax.ShapeDtypeStruct(sizes, jnp.float32, sharding=sharding)


def opened(function: Any, *arguments: Any) -> SearchableProgram:
    return partitioner_of(inspect(function, *arguments).program)


def pairs(found: SearchableProgram) -> dict[str, str]:
    return {found.results[pair.result]: found.arguments[pair.argument] for pair in found.pairs}


def step(state: Any, x: Any, unused: Any) -> Any:
    p, m, count = state
    loss, grads = jax.value_and_grad(lambda p: ((x @ p["up"]) @ p["down"]).sum())(p)
    m = jax.tree.map(jnp.add, m, grads)
    return (jax.tree.map(jnp.subtract, p, m), m, count + 1), loss


def test_a_train_step_s_state_follows_its_argument() -> None:
    p = {"up": shape(8, 16), "down": shape(16, 8)}
    found = opened(jax.jit(step), (p, p, shape()), shape(4, 8), shape(3, 3))
    assert found.arguments[-1] == "x"
    assert found.leaves == (0, 1, 2, 3, 4, 5)
    state = [f"[{at}]['{name}']" for at in (0, 1) for name in ("down", "up")] + ["[2]"]
    assert pairs(found) == {f"result[0]{path}": f"state{path}" for path in state}
    assert all(pair.tree for pair in found.pairs)


def test_gradients_follow_the_parameters() -> None:
    p = {"up": shape(8, 16), "down": shape(16, 8)}
    found = opened(jax.jit(jax.grad(lambda p, x: ((x @ p["up"]) @ p["down"]).sum())), p, shape(4, 8))
    assert pairs(found) == {"result['down']": "p['down']", "result['up']": "p['up']"}


def test_arrays_that_are_alike_are_no_tree() -> None:
    (pair,) = opened(jax.jit(lambda x: x * 2), shape(4, 8)).pairs
    assert not pair.tree


@pytest.fixture(scope="module", params=[AxisType.Auto, AxisType.Explicit], ids=str)
def sharded(request: pytest.FixtureRequest) -> SearchableProgram:
    mesh = jax.make_mesh((2, 2), ("d", "m"), axis_types=(request.param,) * 2)
    w, x = (NamedSharding(mesh, spec) for spec in (P(None, "m"), P("d")))
    with jax.set_mesh(mesh):
        return opened(jax.jit(lambda w, x: jnp.tanh(x @ w)), shape(16, 32, sharding=w), shape(8, 16, sharding=x))


def test_own_layout_is_kept_beside_the_module(sharded: SearchableProgram) -> None:
    own = sharded.module.own
    assert own is not None
    assert own.mesh == {"d": 2, "m": 2}
    assert own.arguments == (((), ("m",)), (("d",), ()))


def test_other_layouts_are_free_of_it(sharded: SearchableProgram) -> None:
    other = ModuleLayout({"z": 4}, ((("z",), ()), ((), ("z",))), (((), ()),))
    (answer,) = sharded.partitioner.partition([other])
    assert isinstance(answer, PartitionedModule)
    (summed,) = answer.collectives
    assert (summed.kind.value, summed.axes, summed.bytes) == ("all-reduce", ("z",), 8 * 32 * 4)


def test_explicit_axes_are_told(sharded: SearchableProgram, request: pytest.FixtureRequest) -> None:
    assert sharded.explicit is ("Explicit" in request.node.name)


def mapped(x: Any) -> Any:
    mesh = jax.make_mesh((4,), ("d",), axis_types=(AxisType.Auto,))
    return jax.shard_map(lambda x: x * 2, mesh=mesh, in_specs=P("d"), out_specs=P("d"))(x)


@pytest.mark.parametrize(
    ("function", "argument", "kind"),
    [(mapped, shape(8, 8), NotSearchable.SHARD_MAP), (lambda x: x + 1, shape(), NotSearchable.NO_ARRAYS)],
    ids=["shard_map", "scalar"],
)
def test_what_cannot_be_searched_says_so(function: Any, argument: Any, kind: NotSearchable) -> None:
    with pytest.raises(Unsearchable) as raised:
        opened(jax.jit(function), argument)
    assert raised.value.kind is kind
