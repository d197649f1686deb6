"""The partitioner's answers against what XLA itself propagates and sends, on four devices of a CPU."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

from jaxstage_ext.core.jax_private.lowered_modules import module_bytecode
from jaxstage_ext.core.layout.partitioner import Partitioner
from jaxstage_ext.ir.partitioning.partitioned_module import PartitionedModule

SIZES = {"f32": 4, "s32": 4, "u32": 4, "pred": 1}
_SENT = re.compile(r"= (.*?) ((?:all|collective|reduce-scatter)[\w-]*?)(?:-start)?\(")
_SHAPE = re.compile(r"(\w+)\[([\d,]*)\]")
TENSOR = {"q": P(None, "m"), "k": P(None, "m"), "v": P(None, "m"), "o": P("m"), "up": P(None, "m"), "down": P("m"),
          "embed": P(), "head": P(None, "m")}  # fmt: skip


@pytest.fixture(scope="module")
def mesh() -> Any:
    return jax.make_mesh((2, 2), ("d", "m"), axis_types=(AxisType.Auto,) * 2)


def step(state: Any, tokens: Any, targets: Any) -> Any:
    def loss(p: Any) -> Any:
        x = p["embed"][tokens]
        q, k, v = (jnp.einsum("btd,dhk->bthk", x, p[name]) for name in "qkv")
        scores = jax.nn.softmax(jnp.einsum("bthk,bshk->bhts", q, k))
        x = x + jnp.einsum("bthk,hkd->btd", jnp.einsum("bhts,bshk->bthk", scores, v), p["o"])
        x = x + jax.nn.gelu(x @ p["up"]) @ p["down"]
        chosen = jnp.take_along_axis(jax.nn.log_softmax(x @ p["head"]), targets[..., None], -1)
        return -jnp.mean(chosen)

    p, m = state
    value, grads = jax.value_and_grad(loss)(p)
    m = jax.tree.map(lambda m, g: 0.9 * m + g, m, grads)
    return (jax.tree.map(lambda p, m: p - 0.1 * m, p, m), m), value


def lowered(mesh: Any, tensor: bool, batch: P) -> Any:
    def shape(*sizes: int, spec: P, dtype: Any = jnp.float32) -> Any:
        return jax.ShapeDtypeStruct(sizes, dtype, sharding=NamedSharding(mesh, spec))

    sizes = {"embed": (32, 16), "head": (16, 32), "up": (16, 16), "down": (16, 16), "o": (4, 4, 16)}
    sizes |= dict.fromkeys("qkv", (16, 4, 4))
    p = {name: shape(*size, spec=TENSOR[name] if tensor else P()) for name, size in sizes.items()}
    tokens = shape(8, 4, spec=batch, dtype=jnp.int32)
    results = jax.tree.map(lambda leaf: leaf.sharding, (p, p))
    return jax.jit(step, out_shardings=(results, None)).lower((p, p), tokens, tokens)


def compiled(program: Any, dumped: Path) -> Any:
    return program.compile(
        compiler_options={
            "xla_backend_optimization_level": 0,
            "xla_dump_to": str(dumped),
            "xla_dump_hlo_pass_re": "shardy-xla",
        }
    )


class Both(NamedTuple):
    """A program lowered, compiled, and XLA's dump of it."""

    lowered: Any
    compiled: Any
    dumped: Path


@pytest.fixture(scope="module")
def tensor_parallel(mesh: Any, tmp_path_factory: pytest.TempPathFactory) -> Both:
    program, folder = lowered(mesh, True, P("d")), tmp_path_factory.mktemp("dump")
    return Both(program, compiled(program, folder), folder)


def sent_by(executable: Any) -> Counter[str]:
    """Bytes by kind of collective, from the text of a compiled module."""
    found: Counter[str] = Counter()
    for types, kind in _SENT.findall(executable.as_text()):
        for dtype, sizes in _SHAPE.findall(types):
            found[kind] += SIZES[dtype] * math.prod(map(int, filter(None, sizes.split(","))))
    return found


def sent(partitioner: Partitioner) -> Counter[str]:
    assert partitioner.module.own is not None
    (answer,) = partitioner.partition([partitioner.module.own])
    assert isinstance(answer, PartitionedModule)
    found: Counter[str] = Counter()
    for each in answer.collectives:
        found[each.kind.value] += each.bytes
    return found


def test_bytes_of_data_parallelism(mesh: Any, tmp_path: Path) -> None:
    program = lowered(mesh, False, P(("d", "m")))
    assert sent(Partitioner(module_bytecode(program))) == sent_by(compiled(program, tmp_path))


def test_bytes_of_tensor_parallelism(tensor_parallel: Both) -> None:
    assert sent(Partitioner(module_bytecode(tensor_parallel.lowered))) == sent_by(tensor_parallel.compiled)


def test_rows_that_neighbours_exchange(mesh: Any, tmp_path: Path) -> None:
    def loss(kernel: Any, x: Any) -> Any:
        return (_convolved(x, kernel) ** 2).sum()

    rows = NamedSharding(mesh, P(None, ("d", "m")))
    x = jax.ShapeDtypeStruct((2, 16, 16, 3), jnp.float32, sharding=rows)
    kernel = jax.ShapeDtypeStruct((3, 3, 3, 8), jnp.float32, sharding=NamedSharding(mesh, P()))
    program = jax.jit(jax.grad(loss), out_shardings=NamedSharding(mesh, P())).lower(kernel, x)
    assert sent(Partitioner(module_bytecode(program))) == sent_by(compiled(program, tmp_path))


def _convolved(x: Any, kernel: Any) -> Any:
    return jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def test_shardings_are_those_that_xla_propagates(tensor_parallel: Both) -> None:
    matched, different = unequal(tensor_parallel.lowered, tensor_parallel.dumped)
    assert matched > 150
    assert different == []


def unequal(program: Any, dumped: Path) -> tuple[int, list[Any]]:
    """How many operations are as often in ours as in XLA's dump, and the shardings of those that differ in them.

    XLA simplifies some on its way there, and does not keep their order in loops.
    """
    from jaxlib.mlir import ir

    from jaxstage_ext.worker.inside.partitioning import partition_session

    (dump,) = dumped.rglob("02.after_propagation.mlir")
    session = partition_session.PartitionSession()
    opened = session.open(module_bytecode(program))
    ours = session.propagated(opened["key"], opened["own"])
    with ours.context:
        theirs = ir.Module.parse(dump.read_text(), ours.context)
    mine, its = _rows(ours), _rows(theirs.operation)
    alike = [key for key in its if len(its[key]) == len(mine[key])]
    matched = sum(len(its[key]) for key in alike)
    assert matched > 0.6 * sum(map(len, its.values()))
    return matched, [(mine[key], its[key]) for key in alike if Counter(mine[key]) != Counter(its[key])]


def _rows(module: Any) -> dict[tuple[str, ...], list[str]]:
    """By the name of an operation and its types the shardings of those that are such, as they are written."""
    from jaxstage_ext.worker.inside.partitioning import module_walk, partition_session

    found: dict[tuple[str, ...], list[str]] = defaultdict(list)
    block = partition_session.main_of(module).regions[0].blocks[0]
    for operation, _ in module_walk.walk(block):
        attributes = operation.attributes
        sharding = str(attributes["sdy.sharding"]) if "sdy.sharding" in attributes else ""
        found[operation.name, *(str(result.type) for result in operation.results)].append(sharding)
    return found
