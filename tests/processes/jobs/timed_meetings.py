"""How long comparing takes where all processes come at once, as a share of their compiles."""

from __future__ import annotations

import time

import jax
from jax import monitoring
from jax._src import distributed
from joined import FOLDER, finish, here, join, ones

import jaxstage_ext

COUNT = 30

if __name__ == "__main__":
    join()
    x, compiling = ones(), []
    monitoring.register_event_duration_secs_listener(
        lambda event, seconds, **_: compiling.append(seconds) if "backend_compile" in event else None
    )
    with jaxstage_ext.preflight(timeout=30, report=FOLDER) as guard:
        here(jax.jit(lambda x: x.sum())(x))
        first, waits = guard.seconds, []
        for number in range(COUNT):
            distributed.global_state.client.wait_at_barrier(f"timed-{number}", 20_000)
            before = guard.seconds
            here(jax.jit(lambda x, number=number: (x * number).sum())(x))
            waits.append(guard.seconds - before)
        step = jax.jit(lambda x: x.max())
        here(step(x))
        began = time.perf_counter()
        for _ in range(200):
            step(x)
        step(x).block_until_ready()
        inside = time.perf_counter() - began
    began = time.perf_counter()
    for _ in range(200):
        step(x)
    step(x).block_until_ready()
    outside = time.perf_counter() - began
    finish({"waits": sorted(waits), "compiling": sum(compiling[1:]), "inside": inside, "outside": outside})
