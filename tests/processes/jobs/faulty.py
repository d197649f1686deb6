"""A job in one process of which our own code fails at the first program, and whose programs agree."""

from __future__ import annotations

import jax
from joined import PROCESS, finish, here, join, ones, told

from jaxstage_ext.processes import program_reading


def failing(*_: object) -> None:
    raise KeyError("made to fail")


def run() -> list[float]:
    return [here(jax.jit(lambda x: x.sum())(ones())), here(jax.jit(lambda x: x.max())(ones()))]


if __name__ == "__main__":
    join()
    if PROCESS == 0:
        program_reading.digests = failing
    finish(told(run, timeout=20))
