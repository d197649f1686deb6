"""Programs on a kernel with eight devices, in a process of their own."""

from __future__ import annotations

import os
import subprocess
import sys


def on_eight(source: str) -> str:
    """What a program on a kernel with eight devices prints."""
    environment = os.environ | {"JAX_PLATFORMS": "cpu", "JAX_NUM_CPU_DEVICES": "8"}
    done = subprocess.run([sys.executable, "-c", _HEAD + source], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


_HEAD = """
import jax, jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
from jaxstage_ext import inspect
from jaxstage_ext.analysis.sharding.sharding_map import ShardingMap
def mesh(kind):
    return jax.make_mesh((4, 2), ("data", "model"), axis_types=(kind,) * 2)
def shape(*sizes, sharding=None):
    return jax.ShapeDtypeStruct(sizes, jnp.float32, sharding=sharding)
def told(values):
    return [(v.made_by or v.name, v.map.sharding.spec, v.chosen_by and str(v.chosen_by)) for v in values if v.map.shape]
"""
