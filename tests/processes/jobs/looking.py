"""Each process of a job inspects a program of all of them, alone, and says what it counts as its own."""

from __future__ import annotations

import jax
from joined import FOLDER, PROCESS, finish, here, join, ones

import jaxstage_ext
from jaxstage_ext.core.targets import survey
from jaxstage_ext.program.device.device_figures import device_memory

if __name__ == "__main__":
    join()
    step, x = jax.jit(lambda x: (x * 2).sum()), ones()
    with jaxstage_ext.preflight(timeout=30, report=FOLDER) as guard:
        ins = jaxstage_ext.inspect(step, x) if PROCESS == 0 else None
        value = [here(step(x)), here(jax.jit(lambda x: x.max())(x))]
    told = {"value": value, "ahead": guard.ahead_of_time, "compared": guard.compared}
    if ins is not None:
        memory = device_memory(ins.program)
        told |= {"memory": memory.title, "targets": survey.text(), "error": str(ins.error), "map": str(ins.shardings)}
    finish(told)
