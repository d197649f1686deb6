"""Programs on a kernel with eight devices, each in a process of its own.

The process is forked from one that has imported what all of them import, and in which JAX has not started: as fresh as
one that Python begins, without the second and a half of a processor that the imports take.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

_MOTHER = """
import gc, json, os, signal, sys
import jax, jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
import jaxstage_ext.api.inspect
from jaxstage_ext import inspect
from jaxstage_ext.analysis.sharding.sharding_map import ShardingMap
def mesh(kind):
    return jax.make_mesh((4, 2), ("data", "model"), axis_types=(kind,) * 2)
def shape(*sizes, sharding=None):
    return jax.ShapeDtypeStruct(sizes, jnp.float32, sharding=sharding)
def told(values):
    return [(v.made_by or v.name, v.map.sharding.spec, v.chosen_by and str(v.chosen_by)) for v in values if v.map.shape]

signal.signal(signal.SIGINT, signal.SIG_IGN)
gc.freeze()
for line in sys.stdin:
    asked = json.loads(line)
    pid = os.fork()
    if not pid:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for number, name in enumerate(("/dev/null", asked["out"], asked["err"])):
            os.dup2(os.open(name, os.O_RDWR | os.O_CREAT), number)
        exec(asked["source"])
        break
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


def on_eight(source: str) -> str:
    """What a program on a kernel with eight devices prints."""
    mother = _mother()
    assert mother.stdin and mother.stdout
    with tempfile.TemporaryDirectory(prefix="eight-") as folder:
        out, error = Path(folder, "out"), Path(folder, "err")
        mother.stdin.write(json.dumps({"source": source, "out": str(out), "err": str(error)}) + "\n")
        mother.stdin.flush()
        status = mother.stdout.readline().strip()
        assert status == "0", error.read_text()[-3000:] if error.exists() else "it did not start"
        return out.read_text()


@functools.cache
def _mother() -> subprocess.Popen[str]:
    environment = os.environ | {"JAX_PLATFORMS": "cpu", "JAX_NUM_CPU_DEVICES": "8"}
    command = [sys.executable, "-c", _MOTHER]
    mother = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
    atexit.register(_end, mother)
    return mother


def _end(mother: subprocess.Popen[str]) -> None:
    mother.kill()
    mother.communicate()
