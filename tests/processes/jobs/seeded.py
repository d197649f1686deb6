"""Five programs, each made to differ between processes in five ways: in code, data, options, order, environment."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import PartitionSpec
from joined import CASES, PROCESS, case, finish, here, join, mesh, ones, told

Program = Callable[..., jax.Array]


def reduced(x, scale):
    return (x * scale).sum()  # reduced-constant


def gradient(x, scale):
    return jax.grad(lambda w: jnp.mean(jnp.tanh(x @ w) * scale))(jnp.ones((4, 3))).sum()  # gradient-constant


def scanned(x, scale):
    def body(carry, _):
        return jnp.sin(carry) * scale, None  # scanned-constant

    return jax.lax.scan(body, x, length=3)[0].sum()


def attended(x, scale):
    scores = jax.nn.softmax((x @ x.T) / scale)  # attended-constant
    return (scores @ x).mean()


def normalised(x, scale):
    centred = x - x.mean(axis=-1, keepdims=True)
    return (centred / jnp.sqrt(centred.var() + scale)).sum()  # normalised-constant


PROGRAMS: dict[str, Program] = {
    program.__name__: program for program in (reduced, gradient, scanned, attended, normalised)
}


def constant(name: str) -> None:
    def by_process(x):
        return reduced(x, jax.process_index() + 1.0)

    def by_environment(x):
        return gradient(x, float(os.environ["OWN_VALUE"]))

    now = time.time_ns() % 1000003 / 1000003

    def by_clock(x):
        return scanned(x, now)

    drawn = float(np.random.rand()) + 1.0

    def by_draw(x):
        return attended(x, drawn)

    first = next(iter({"one", "three", "seven", "eleven", "thirteen", "nineteen"}))

    def by_hash(x):
        return normalised(x, len(first) + 1.0)

    programs = {
        by_process: reduced,
        by_environment: gradient,
        by_clock: scanned,
        by_draw: attended,
        by_hash: normalised,
    }
    here(jax.jit(next(one for one, program in programs.items() if program.__name__ == name))(ones()))


def shape(name: str) -> None:
    batch = ones(8 if PROCESS == 0 else 6)
    here(jax.jit(lambda x: PROGRAMS[name](x, 1.0))(batch))  # any-shape


def order(name: str) -> None:
    def before(x):
        return x.max()

    def after(x):
        return PROGRAMS[name](x, 1.0)

    for program in (before, after) if PROCESS == 0 else (after, before):
        here(jax.jit(program)(ones()))  # any-order


def collective(name: str) -> None:
    def body(x):
        total = PROGRAMS[name](x, 1.0)
        if jax.process_index() == 1:
            total = jax.lax.pmax(total, "x")  # any-collective
        return jax.lax.psum(total, "x")

    spread = jax.shard_map(body, mesh=mesh(), in_specs=PartitionSpec("x"), out_specs=PartitionSpec(), check_vma=False)
    here(jax.jit(spread)(ones()))


def error(name: str) -> None:
    if PROCESS == 1:
        raise KeyError(name)  # any-error
    here(jax.jit(lambda x: PROGRAMS[name](x, 1.0))(ones()))


KINDS = (constant, shape, order, collective, error)
for _kind in KINDS:
    for _name in PROGRAMS:
        case(f"{_name}-{_kind.__name__}")(lambda kind=_kind, name=_name: kind(name))


if __name__ == "__main__":
    join()
    finish({name: told(*found) for name, found in CASES.items()})
