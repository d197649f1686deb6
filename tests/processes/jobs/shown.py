"""Each process of a job tells what it shows of several processes, and what JAX itself says of the same.

WORDS: a folder for JAX's persistent cache.
"""

from __future__ import annotations

import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax._src import distributed
from jax.sharding import NamedSharding, PartitionSpec
from joined import FOLDER, PROCESS, PROCESSES, WORDS, finish, here, join, mesh, ones

import jaxstage_ext
from jaxstage_ext.core.targets import survey
from jaxstage_ext.notebook import sharding_magic
from jaxstage_ext.processes.inside import compile_rows
from jaxstage_ext.program.device.device_figures import device_memory

COMPILED = "process 0 has compiled the third program"
PAUSE = 0.3
"""Seconds that the others come after it, at least."""


def bounds_held(array: jax.Array) -> list[list[list[int]]]:
    """The slices that JAX says this process holds, each once."""
    found = {
        tuple(part.indices(size)[:2] for part, size in zip(shard.index, array.shape, strict=True))
        for shard in array.addressable_shards
    }
    return sorted([list(bounds) for bounds in each] for each in found)


def own_work(x):
    return x * 2 + PROCESS


def first(x):
    return (x @ x.T).sum()


def second(x):
    return jnp.sin(x).max()


def third(x):
    return x.mean(0)


def tell_the_others(event: str, *_: Any, **__: Any) -> None:
    """They wait for the end of the next compile of process 0, and pause then."""
    if event == "/jax/core/compile/backend_compile_duration":
        distributed.global_state.client.key_value_set(COMPILED, "yes", allow_overwrite=True)


def compiled() -> dict[str, Any]:
    """The log after programs in another order in each process, one of its own, and one that the cache may have."""
    for function in [first, second][:: 1 - 2 * PROCESS]:
        jax.jit(function).lower(x).compile()
    jax.jit(own_work)(jnp.ones(3))
    if PROCESS == 0:
        jax.monitoring.register_event_duration_secs_listener(tell_the_others)
    else:
        distributed.global_state.client.blocking_key_value_get(COMPILED, 60_000)
        time.sleep(PAUSE)
    value = here(jax.jit(third)(x))
    jax.clear_caches()
    jax.jit(third).lower(x).compile()
    log = compile_rows.compile_rows()
    numbers = [row["number"] for row in log["rows"]]
    return {"value": value, "log": log, "keys": compile_rows.cache_keys(numbers)}


def inspected() -> dict[str, Any]:
    """A program of all processes, and the same after it was saved."""
    made = jaxstage_ext.inspect(jax.jit(lambda x, w: {"y": x @ w, "z": x.sum()}), x, w)
    return {
        "map": str(made.shardings),
        "text": str(made),
        "saved": made.to_json(),
        "memory": device_memory(made.program).title,
        "targets": survey.text().split("\n")[0],
        "live": str(sharding_magic.shown("x", {"x": x})),
        "both": str(sharding_magic.shown("v", {"v": {"x": x, "w": w}})),
        "cache": str(jaxstage_ext.compile_cache()),
    }


def profiled() -> None:
    """A profile of a program for which process 0 waits, which this process begins to record later or not."""
    step = jax.jit(first)
    here(step(x))
    time.sleep(0.05 * PROCESS)
    with jax.profiler.trace(str(FOLDER / f"profile{PROCESS}")):
        for _ in range(6):
            time.sleep(0.01 * PROCESS)
            here(step(x))


def elsewhere() -> dict[str, Any]:
    """An array of which this process holds nothing, a program on it, and one that JAX refuses because of it."""
    alone = NamedSharding(jax.sharding.Mesh([jax.devices()[PROCESSES - 1 - PROCESS]], ("x",)), PartitionSpec("x"))
    far = jax.make_array_from_callback((4, 2), alone, lambda _: np.ones((4, 2), np.float32), dtype=np.float32)
    made = jaxstage_ext.inspect(jax.jit(lambda x: x * 2), far)
    told = {"live": str(sharding_magic.shown("far", {"far": far})), "map": str(made.shardings)}
    told["memory"] = device_memory(made.program).reason
    try:
        jaxstage_ext.inspect(jax.jit(lambda x, far: x @ far), x, far)
    except ValueError as error:
        told["refused"] = str(error.inspection.shardings)
    return told


if __name__ == "__main__":
    jax.config.update("jax_compilation_cache_dir", WORDS[0])
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)
    join()
    compile_rows.start_log()
    x, w = ones(6, 4), jax.device_put(np.ones((4, 2), np.float32), NamedSharding(mesh(), PartitionSpec()))
    held = {"x": bounds_held(x), "w": bounds_held(w)}
    told = {"held": held, **compiled(), "inspected": inspected(), "elsewhere": elsewhere()}
    profiled()
    finish(told)
