"""Each process of a job tells what it shows of several processes, and what JAX itself says of the same.

WORDS: a folder for JAX's persistent cache.
"""

from __future__ import annotations

import time

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec
from joined import FOLDER, PROCESS, PROCESSES, WORDS, finish, here, join, mesh, ones

import jaxstage_ext
from jaxstage_ext.core.targets import survey
from jaxstage_ext.notebook import sharding_magic
from jaxstage_ext.processes.inside import compile_rows
from jaxstage_ext.program.device.device_figures import device_memory


def rows_of_this_process(array: jax.Array) -> list[list[list[int]]]:
    """The slices that JAX says this process holds, each once."""
    found = {
        tuple(part.indices(size)[:2] for part, size in zip(shard.index, array.shape, strict=True))
        for shard in array.addressable_shards
    }
    return sorted([list(bounds) for bounds in each] for each in found)


def own_work(x):
    """Compiled by this process for its own device."""
    return x * 2 + PROCESS


def first(x):
    return (x @ x.T).sum()


def second(x):
    return jnp.sin(x).max()


def third(x):
    return x.mean(0)


if __name__ == "__main__":
    jax.config.update("jax_compilation_cache_dir", WORDS[0])
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)
    join()
    compile_rows.start_log()
    x, w = ones(6, 4), jax.device_put(np.ones((4, 2), np.float32), NamedSharding(mesh(), PartitionSpec()))
    told = {"held": {"x": rows_of_this_process(x), "w": rows_of_this_process(w)}}
    order = [first, second] if PROCESS == 0 else [second, first]
    for function in order:
        jax.jit(function).lower(x).compile()
        time.sleep(0.3 * PROCESS)
    jax.jit(own_work)(jnp.ones(3))
    value = here(jax.jit(third)(x))
    told |= {"value": value, "log": compile_rows.compile_rows()}
    numbers = [row["number"] for row in told["log"]["rows"] if row["program"] in ("first", "second", "third")]
    told["keys"] = compile_rows.cache_keys(numbers)

    ins = jaxstage_ext.inspect(jax.jit(lambda x, w: {"y": x @ w, "z": x.sum()}), x, w)
    saved = ins.to_json()
    read = jaxstage_ext.Inspection.from_json(saved)
    told |= {
        "error": str(ins.error),
        "map": str(ins.shardings),
        "read": str(read.shardings),
        "memory": device_memory(ins.program).title,
        "targets": survey.text().split("\n")[0],
        "live": str(sharding_magic.shown("x", {"x": x})),
        "both": str(sharding_magic.shown("v", {"v": {"x": x, "w": w}})),
        "text": str(ins),
        "cache": str(jaxstage_ext.compile_cache()),
    }
    (FOLDER / f"{PROCESS}.report").write_text(saved)
    elsewhere = jax.devices()[(PROCESS + 1) % PROCESSES]
    alone = NamedSharding(jax.sharding.Mesh([elsewhere], ("x",)), PartitionSpec("x"))
    far = jax.make_array_from_callback((4, 2), alone, lambda at: np.ones((4, 2), np.float32)[at], dtype=np.float32)
    told["far"] = str(sharding_magic.shown("far", {"far": far}))
    other = jaxstage_ext.inspect(jax.jit(lambda x: x * 2), far)
    told |= {"far error": str(other.error), "far map": ""}
    try:
        told["far map"] = str(other.shardings)
    except ValueError as error:
        told["far map"] = repr(error)
    try:
        jaxstage_ext.inspect(jax.jit(lambda a, b: a @ b), x, far)
    except ValueError as error:
        told["refused"] = str(error)
    finish(told)
