"""Programs as real jobs run them: processes differ in what they may, and nothing stops them. WORDS: a seed."""

from __future__ import annotations

import contextlib
import os
import random
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import NamedSharding, PartitionSpec
from joined import FOLDER, PROCESS, WORDS, finish, here, join, mesh, ones

import jaxstage_ext


def training_step():
    def loss(w, x):
        return jnp.mean(jax.nn.gelu(x @ w) ** 2)

    step = jax.jit(lambda w, x: w - 0.1 * jax.grad(loss)(w, x), donate_argnums=0)
    w = jax.device_put(np.ones((4, 4), np.float32), NamedSharding(mesh(), PartitionSpec()))
    for _ in range(3):
        w = step(w, ones())
    return here(w)


def own_data():
    x = jax.make_array_from_process_local_data(
        NamedSharding(mesh(), PartitionSpec("x")), np.full((4, 4), PROCESS + 1.0, np.float32)
    )
    return here(jax.jit(lambda x: x.sum())(x))


def gathered():
    value = multihost_utils.process_allgather(np.array([PROCESS + 1.0]))
    multihost_utils.sync_global_devices("here")
    return [float(value.sum()), float(multihost_utils.broadcast_one_to_all(np.float32(PROCESS + 3)))]


def logged_by_one():
    if jax.process_index() == 0:
        step = jax.jit(lambda x: (x @ x.T).sum())
        print(step.lower(ones()).compile().cost_analysis())
        print(jax.jit(lambda x: x + PROCESS)(jnp.ones(3)))
    return here(jax.jit(lambda x: (x @ x.T).sum())(ones()))


def looked_at_by_one():
    step, x = jax.jit(lambda x: (x @ x.T).mean()), ones()
    if jax.process_index() == 1:
        step.lower(x).compile()
    return [here(step(x)), here(jax.jit(lambda x: (x * x).mean())(x))]


def timed():
    began = time.time()
    time.sleep(random.random() * 0.2)
    value = here(jax.jit(lambda x: x.max())(ones()))
    print(time.time() - began)
    return value


def cleared_by_one():
    step = jax.jit(lambda x: x.min())
    step(ones())
    if PROCESS == 1:
        jax.clear_caches()
    return here(step(ones()))


def called_back():
    def body(x):
        jax.debug.callback(lambda y: print(os.getpid(), y.shape), x)
        return x.sum(keepdims=True)

    spread = jax.shard_map(
        body, mesh=mesh(), in_specs=PartitionSpec("x"), out_specs=PartitionSpec("x"), check_vma=False
    )
    return here(jax.jit(spread)(ones()))


def shuffled_seed():
    key = jax.random.key(int(multihost_utils.broadcast_one_to_all(np.uint32(time.time_ns() % 2**31))))
    return here(jax.jit(lambda x, key: (x + jax.random.normal(key, x.shape)).sum() * 0)(ones(), key))


def looped():
    body = lambda carry, _: (jnp.sin(carry), None)  # noqa: E731
    return here(jax.jit(lambda x: jax.lax.scan(body, x, length=5)[0].sum() * 0)(ones(16)))


def caught():
    with contextlib.suppress(TypeError):
        jax.jit(lambda x: x @ jnp.ones((PROCESS + 7, 2)))(ones())
    return here(jax.jit(lambda x: x.prod())(ones()))


CLEAN = [training_step, own_data, gathered, logged_by_one, looked_at_by_one, timed]
CLEAN += [cleared_by_one, called_back, shuffled_seed, looped, caught]


if __name__ == "__main__":
    join()
    chosen = random.Random(int(WORDS[0])).sample(CLEAN, 4) if WORDS else CLEAN
    values, began = {}, time.perf_counter()
    with jaxstage_ext.preflight(timeout=20, report=FOLDER) as guard:
        for run in chosen:
            values[run.__name__] = run()
    sys.stdout.flush()
    finish(
        {
            "values": values,
            "compared": guard.compared,
            "ahead": guard.ahead_of_time,
            "guard": guard.seconds,
            "all": time.perf_counter() - began,
        }
    )
