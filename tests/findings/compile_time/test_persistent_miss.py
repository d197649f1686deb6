"""Programs that later processes do not find in the persistent cache; that they miss is read from the folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = """
import json, os, sys
import jax, jax.numpy as jnp
from jax.experimental.custom_partitioning import custom_partitioning
from jax.sharding import NamedSharding, PartitionSpec as P
from jaxstage_ext import inspect
from jaxstage_ext.compilation.events import listening
from jaxstage_ext.findings.compile_time import persistent_miss

listening.start()
rate, folder = float(sys.argv[1]), os.environ["JAX_COMPILATION_CACHE_DIR"]

@custom_partitioning
def twice(x):
    return x * 2

def part(mesh, shapes, result):
    return mesh, lambda x: x * 2, shapes[0].sharding, (shapes[0].sharding,)

def infer(mesh, shapes, result):
    return shapes[0].sharding

twice.def_partition(partition=part, infer_sharding_from_operands=infer, sharding_rule="i j -> i j")

@jax.jit
def partitioned(x):
    return jnp.sin(twice(x)) + 1  # the call

@jax.jit
def mapped(x):
    return jnp.sin(jax.shard_map(lambda x: x * 2, mesh=mesh, in_specs=P("d"), out_specs=P("d"))(x)) + 1

@jax.jit
def train(x):
    return x - rate * jnp.cos(x)

@jax.jit
def passed(x, rate):
    return x - rate * jnp.sin(x)

mesh = jax.make_mesh((2,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))
x, alone = jax.device_put(jnp.ones((16, 16)), NamedSharding(mesh, P("d"))), jnp.ones(8)
calls = {"partitioned": (partitioned, x), "mapped": (mapped, x)}
calls |= {"train": (train, alone), "passed": (passed, alone, rate)}
said = {}
for name, (function, *args) in calls.items():
    function(*args)
    files = [file for file in os.listdir(folder) if file.startswith(f"jit_{name}-") and file.endswith("-cache")]
    found = persistent_miss.find(inspect(function, *args).program)
    said[name] = [len(files), [(one.line.rpartition(":")[2], one.certainty.value, one.stake.most) for one in found]]
print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What each of three processes says, the rate being another in each."""
    folder = tmp_path_factory.mktemp("cache")
    script = folder / "train.py"
    script.write_text(SCRIPT)
    environment = {
        **os.environ,
        "JAX_COMPILATION_CACHE_DIR": str(folder / "entries"),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_NUM_CPU_DEVICES": "2",
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[3]), *sys.path]),
        "XDG_CACHE_HOME": str(folder / "records"),
    }
    os.makedirs(folder / "entries")
    return [_run(script, rate, environment) for rate in ("0.001", "0.003", "0.01")]


def _run(script: Path, rate: str, environment: dict[str, str]) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, str(script), rate], env=environment, capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stderr
    said: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return said


def test_an_address_misses_in_every_process(said: list[dict[str, Any]]) -> None:
    assert [each["partitioned"][0] for each in said] == [1, 2, 3], "an entry more each time"
    line = str(1 + next(i for i, text in enumerate(SCRIPT.splitlines()) if "# the call" in text))
    for each, certainty in zip(said, ("inferred", "counted", "counted"), strict=True):
        [[where, known, seconds]] = each["partitioned"][1]
        assert (where, known) == (line, certainty)
        assert seconds > 0


def test_its_advice_hits(said: list[dict[str, Any]]) -> None:
    assert [each["mapped"] for each in said] == [[1, []]] * 3


def test_a_constant_that_varies(said: list[dict[str, Any]]) -> None:
    assert [each["train"][0] for each in said] == [1, 2, 3]
    assert [len(each["train"][1]) for each in said] == [0, 0, 1], "the second value may be an edit"


def test_as_an_argument_it_hits(said: list[dict[str, Any]]) -> None:
    assert [each["passed"] for each in said] == [[1, []]] * 3
