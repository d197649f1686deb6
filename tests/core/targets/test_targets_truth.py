"""What the worker gives is what JAX gives: the same module text, over the golden programs, on the installed JAX."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import compiled_once
import jax
import jax.numpy as jnp
import pytest
from absent import needs
from jax.sharding import AbstractMesh, Mesh, NamedSharding, PartitionSpec

import jaxstage_ext
from jaxstage_ext.core.jax_private import xla_executables
from jaxstage_ext.core.targets import gpu_descriptions
from jaxstage_ext.report.unavailable import Unavailable
from jaxstage_ext.store import cache
from tests.golden.record import load_programs

TESTS = Path(__file__).parents[2]
PROGRAMS = load_programs().PROGRAMS
ABSENT = {"v5e:2x2": ("tpu", "v5e:2x2"), "v4:2x2x1": ("tpu", "v4:2x2x1"), "h100:4": ("cuda", "1x1x4")}

TRIES = {"v5e:2x2": 1, "v4:2x2x1": 1, "h100:4": 25}
"""XLA's GPU compiler gives one of two texts for the same bytes in the same process (seen: transformer_gradient)."""


@pytest.fixture(autouse=True)
def every_look_asks_the_compiler() -> Iterator[None]:
    cache.enable(False)
    yield
    cache.enable(True)


@functools.cache
def in_process(target: str) -> dict[str, str]:
    """What JAX compiles in one process that holds the compiler itself, once a week."""
    ours = [Path(module.__file__ or "") for module in (gpu_descriptions, xla_executables)]
    sources = (TESTS / "helpers/in_process.py", *sorted((TESTS / "golden").glob("*.py")), *ours)
    told = hashlib.sha256(b"".join([target.encode(), str(TESTS).encode(), *(path.read_bytes() for path in sources)]))
    kept = compiled_once.folder(compiled_once.WORKER) / f"in-process-{told.hexdigest()}"
    if not kept.exists():
        compiled_once.keep_bytes(kept, compiled(target))
    return dict(json.loads(kept.read_bytes()))


def compiled(target: str) -> bytes:
    done = subprocess.run(
        [sys.executable, str(TESTS / "helpers/in_process.py"), *ABSENT[target]],
        capture_output=True,
        timeout=280,
        env=os.environ | {"PYTHONPATH": str(TESTS.parent)},
    )
    assert done.returncode == 0, done.stderr[-3000:].decode()
    return done.stdout


def text_for(target: str, function: object, *arguments: object) -> str:
    return jaxstage_ext.inspect(function, *arguments, target=target).documents["hlo"].text


@pytest.mark.parametrize("name", PROGRAMS)
def test_cpu_devices_in_the_worker_give_what_the_kernel_gives(name: str) -> None:
    function, arguments = PROGRAMS[name]
    assert text_for("cpu:4", function, *arguments) == text_for("local", function, *arguments)


@pytest.mark.parametrize("target", ABSENT)
@pytest.mark.parametrize("name", [name for name in PROGRAMS if name != "callback"])
def test_absent_devices_in_the_worker_give_what_jax_gives(target: str, name: str) -> None:
    needs(target)
    function, arguments = PROGRAMS[name]
    wanted = in_process(target)[name]
    tries = (text_for(target, function, *arguments) for _ in range(TRIES[target]))
    assert any(text == wanted for text in tries)


@pytest.mark.parametrize("target", ABSENT)
def test_a_callback_is_refused_with_its_reason(target: str) -> None:
    needs(target)
    function, arguments = PROGRAMS["callback"]
    with pytest.raises(Unavailable, match="calls back into Python"):
        text_for(target, function, *arguments)


@pytest.mark.parametrize("mesh", [(4,), (2, 2), (1, 4)])
def test_an_abstract_mesh_gives_what_a_real_one_gives(mesh: tuple[int, ...]) -> None:
    axes = ("x", "y")[: len(mesh)]
    shape = jax.ShapeDtypeStruct((64, 64), jnp.float32)
    texts = []
    for made in (jax.make_mesh(mesh, axes), AbstractMesh(mesh, axes, axis_types=jax.make_mesh(mesh, axes).axis_types)):
        sharding = NamedSharding(made, PartitionSpec(*axes))

        @functools.partial(jax.jit, in_shardings=(sharding, None))
        def product(a, b):
            return jnp.tanh(a @ b).sum(0)

        texts.append(text_for("cpu:4", product, shape, shape))
    assert "all-reduce" in texts[0]
    assert texts[0] == texts[1]


def test_a_mesh_in_an_order_of_its_own_keeps_it() -> None:
    mesh = Mesh(jax.devices()[::-1], ("x",))
    function = jax.jit(lambda x: x.sum(), in_shardings=NamedSharding(mesh, PartitionSpec("x")))
    assert text_for("cpu:4", function, jnp.ones(8)) == text_for("local", function, jnp.ones(8))


def test_options_given_to_jit_reach_the_worker() -> None:
    function = jax.jit(lambda x: jnp.sin(x) + 1, compiler_options={"xla_backend_optimization_level": 0})
    assert text_for("cpu:4", function, jnp.ones(8)) == text_for("local", function, jnp.ones(8))


def test_one_program_for_a_thousand_chips() -> None:
    needs("v5e:2x2")
    mesh = AbstractMesh((64, 16), ("data", "model"))
    x = jax.ShapeDtypeStruct((8192, 1024), jnp.bfloat16, sharding=NamedSharding(mesh, PartitionSpec("data")))
    w = jax.ShapeDtypeStruct((1024, 4096), jnp.bfloat16, sharding=NamedSharding(mesh, PartitionSpec(None, "model")))
    inspection = jaxstage_ext.inspect(lambda x, w: jnp.tanh(x @ w).sum(), x, w, target="v5p:8x8x16")
    assert "num_partitions=1024" in inspection.documents["hlo"].text
    assert inspection.summary()["target"].startswith("v5p:8x8x16 · tpu, 1,024 chips")
