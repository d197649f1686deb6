"""A job in which process WORDS[0] is killed by the system before it reaches a program that the other waits in."""

from __future__ import annotations

import os
import signal
import time

import jax
from joined import PROCESS, WORDS, finish, here, join, ones, told


def run() -> float:
    here(jax.jit(lambda x: x.sum())(ones()))
    if int(WORDS[0]) == PROCESS:
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGKILL)
    return here(jax.jit(lambda x: x.max())(ones()))


if __name__ == "__main__":
    join()
    finish(told(run, timeout=2.0), others=0)
