"""JAX's own compile of functions on a mesh of eight real devices beside ours on a mesh of none; prints {case: equal}.

`PYTHONPATH=. python tests/helpers/mesh_oracle.py`
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from typing import Any

os.environ.update(JAX_PLATFORMS="cpu", JAX_NUM_CPU_DEVICES="8")

import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import jaxstage_ext
from jaxstage_ext.core.jax_private import xla_executables
from tests.golden.record import load_programs

AXES = {"data": 4, "model": 2}
MESH = jax.make_mesh((4, 2), ("data", "model"), axis_types=(AxisType.Auto,) * 2)


def matmul(w, x, scale=2.0):
    return jnp.tanh(x @ w["kernel"]) * scale + w["bias"]


def constrained(w, x):
    return jax.lax.with_sharding_constraint(jnp.tanh(x @ w), P("data", "model")).sum(0)


def psum(x):
    return jax.shard_map(lambda x: jax.lax.psum(x, "data"), in_specs=P("data"), out_specs=P())(x)


W, X = jnp.ones((16, 32)), jax.ShapeDtypeStruct((8, 16), jnp.float32)
TREE = {"kernel": W, "bias": jnp.ones(32)}


def cases() -> Iterator[tuple[str, Any, tuple[Any, ...], Any, Any]]:
    """(name, function, arguments, specs of these, specs of the result)."""
    yield "all given", matmul, (TREE, X, 3.0), ({"kernel": P(None, "model"), "bias": P("model")}, P("data"), P()), None
    yield "prefix", matmul, (TREE, X), (P(), P(("data", "model"))), None
    yield "some left open", matmul, (TREE, X), (None, P("data")), None
    yield "a scalar left open", matmul, (TREE, X, 3.0), (None, P("data"), None), None
    yield "result", matmul, (TREE, X), ({"kernel": P("data"), "bias": None}, None), P("data", "model")
    yield "constraint alone", constrained, (W, X), (), None
    yield "constraint and arguments", constrained, (W, X), (P(None, "model"), P("data")), P("model")
    yield "shard_map", psum, (X,), (P("data"),), None
    yield "shard_map alone", psum, (X,), (), None
    yield "already jitted", jax.jit(constrained), (W, X), (P(None, "model"), P("data")), None
    function, arguments = load_programs().PROGRAMS["transformer_gradient"]
    yield "transformer", function, arguments, (P(), P("model", None, None)), None


def in_process(function: Any, arguments: Any, specs: Any, result: Any) -> str:
    def on_mesh(spec: Any) -> Any:
        return spec if spec is None else NamedSharding(MESH, spec)

    def placed(tree: Any) -> Any:
        return jax.tree.map(on_mesh, tree, is_leaf=lambda x: x is None or isinstance(x, P))

    given = {"in_shardings": placed(specs)} if specs else {}
    given |= {"out_shardings": placed(result)} if result is not None else {}
    with jax.set_mesh(MESH):
        compiled = jax.jit(getattr(function, "__wrapped__", function), **given).lower(*arguments).compile()
    [module] = xla_executables.hlo_modules(compiled)
    return xla_executables.hlo_text(module, True)


def main() -> None:
    equal = {}
    for name, function, arguments, specs, result in cases():
        wanted = in_process(function, arguments, specs, result)
        for target in ("cpu:8", "local"):
            ours = jaxstage_ext.inspect(
                function, *arguments, target=target, mesh=AXES, in_specs=specs, out_specs=result
            )
            equal[f"{name}, {target}"] = ours.documents["hlo"].text == wanted and "num_partitions=8" in wanted
    json.dump(equal, sys.stdout)


if __name__ == "__main__":
    main()
