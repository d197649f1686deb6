"""Cases in which processes would run different programs, each with what JAX does about it: nothing, or it hangs."""

from __future__ import annotations

import os
import random
import signal
import threading
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from joined import CASES, PROCESS, WORDS, case, finish, here, join, mesh, ones, told

from jaxstage_ext.processes import guarding


@case()
def alike():
    step = jax.jit(lambda x: (x * 2).sum())
    return [here(step(ones())), here(step(ones())), here(jax.jit(lambda x: x.mean())(ones(16)))]


@case()
def local_programs_may_differ():
    return float(jax.jit(lambda x: (x * (PROCESS + 1)).sum())(jnp.ones(3)))


@case()
def looked_at_by_one():
    step, x = jax.jit(lambda x: (x * 9).sum()), ones()
    if PROCESS == 0:
        print(step.lower(x).compile().cost_analysis())  # JAX does not compile it again when it is called
    return [here(step(x)), here(jax.jit(lambda x: (x * 10).sum())(x))]


@case()
def forked():
    child = os.fork() if PROCESS == 1 else None
    if child == 0:
        guarding.end(ValueError("of a child, which takes part in no job"))
        os._exit(0)
    if child:
        os.waitpid(child, 0)
    return here(jax.jit(lambda x: (x * 11).sum())(ones()))


@case()
def threads():
    x, values = ones(), {}

    def run(name, wait):
        time.sleep(wait)
        values[name] = here(jax.jit({"high": jnp.max, "low": jnp.min}[name])(x))

    other = threading.Thread(target=run, args=("high", 0.4 * PROCESS))
    other.start()
    run("low", 0.4 * (1 - PROCESS))
    other.join()
    return values


@case()
def constant():
    scale = jax.process_index() + 1

    @jax.jit
    def step(x):
        return (x * scale).sum()  # constant

    return here(step(ones()))


@case()
def captured():
    weights = np.full((4,), float(os.environ["OWN_VALUE"]), np.float32)
    held = {"weights": weights}
    return here(jax.jit(lambda x: (x * held["weights"]).sum())(ones()))  # captured


@case()
def clock():
    seed = time.time_ns()

    @jax.jit
    def noise(x):
        return (x + jax.random.normal(jax.random.key(seed % 1000003), x.shape)).sum()  # clock

    return here(noise(ones()))


@case("random")
def drawn():
    rate = random.random()

    @jax.jit
    def step(x):
        return (x * rate).sum()  # random

    return here(step(ones()))


@case()
def set_order():
    names = {"alpha", "beta", "gamma", "delta", "epsilon", "zeta"}
    scales = {name: index for index, name in enumerate(sorted(names))}

    @jax.jit
    def step(x):
        for name in names:
            x = jnp.sin(x) * scales[name]  # set_order
        return x.sum()

    return here(step(ones()))


@case()
def shape():
    batch = ones(8 if PROCESS == 0 else 4)
    return here(jax.jit(lambda x: (x * 2).sum())(batch))  # shape


@case()
def order():
    def first(x):
        return (x + 1).sum()

    def second(x):
        return (x * 5).sum()

    programs = [jax.jit(first), jax.jit(second)]
    return [here(program(ones())) for program in (programs if PROCESS == 0 else programs[::-1])]  # order


@case()
def collective():
    def body(x):
        if jax.process_index() == 0:
            x = jax.lax.psum(x, "x")  # collective
        return jax.lax.psum(x, "x")

    spread = jax.shard_map(body, mesh=mesh(), in_specs=PartitionSpec("x"), out_specs=PartitionSpec(), check_vma=False)
    return here(jax.jit(spread)(ones()))


@case()
def program_more():
    x = ones()
    if jax.process_index() == 0:
        print(jax.jit(lambda x: jnp.linalg.norm(x))(x))  # program_more
    return here(jax.jit(lambda x: x.max())(x))


@case()
def donation():
    update = jax.jit(lambda x: x + 1, donate_argnums=(0,) if PROCESS else ())
    return here(update(ones()))  # donation


@case()
def devices():
    ordered = jax.devices() if PROCESS == 0 else jax.devices()[::-1]
    sharding = NamedSharding(Mesh(np.array(ordered), ("x",)), PartitionSpec("x"))
    x = jax.make_array_from_callback((8,), sharding, lambda at: np.ones(8, np.float32)[at])
    return here(jax.jit(lambda x: x.sum())(x))  # devices


@case()
def options():
    level = "O1" if PROCESS else "O2"
    step = jax.jit(lambda x: x.min(), compiler_options={"xla_cpu_enable_fast_math": level == "O1"})
    return here(step(ones()))  # options


@case()
def error():
    if PROCESS == 1:
        raise ValueError("bad batch")  # error
    return here(jax.jit(lambda x: (x * 3).sum())(ones()))


@case()
def left():
    return here(jax.jit(lambda x: (x * 4).sum())(ones())) if PROCESS == 0 else None


@case(timeout=1.0)
def absent():
    if PROCESS == 1:
        time.sleep(2.5)
    return here(jax.jit(lambda x: (x * 6).sum())(ones()))


@case()
def interrupted():
    if PROCESS == 1:
        return time.sleep(1.2)
    threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT)).start()
    began = time.monotonic()
    try:
        return here(jax.jit(lambda x: (x * 8).sum())(ones()))
    except KeyboardInterrupt:
        return time.monotonic() - began


@case()
def alike_again():
    return here(jax.jit(lambda x: (x * 7).sum())(ones()))


if __name__ == "__main__":
    join()
    chosen = WORDS or list(CASES)
    finish({name: told(*CASES[name]) for name in chosen})
