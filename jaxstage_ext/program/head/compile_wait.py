"""A compile that takes long: where it runs, whether it can be stopped there, and what would let it be."""

from __future__ import annotations

from typing import NamedTuple

import jax

from jaxstage_ext.core.stage.stage_definition import COMPILE
from jaxstage_ext.core.stage.staged import RUNNING
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.text.typed_forms import typed

_HERE = "XLA compiles in this kernel, where nothing stops it: an interrupt may take effect only when it is done."
_ISOLATE = (
    "{} compiles in a worker instead, which Cancel and an interrupt stop at once, and which is stopped after {}; its "
    "executable cannot be run from the kernel."
)


class CompileWait(NamedTuple):
    """What is said of a compile that takes long, and whether `stop` ends it."""

    text: str
    can_stop: bool


def compile_wait(program: Program) -> CompileWait | None:
    """What to say of the compile stage that runs; None where none does."""
    stage = program.staged.stage(COMPILE)
    if stage is None or stage.state != RUNNING:
        return None
    if not program.target.is_local:
        return CompileWait(_in_worker(program), True)
    return CompileWait(f"{_HERE} {_isolate()}" if jax.default_backend() == "cpu" else _HERE, False)


def _isolate() -> str:
    how = typed("%%compile --isolate --timeout 60", "jaxstage_ext.inspect(f, ..., isolate=True)")
    return _ISOLATE.format(how, typed("60 s (600 s without --timeout)", "600 s"))


def _in_worker(program: Program) -> str:
    large = program.staged.large
    why = "A worker compiles it" if large is None else f"A worker compiles it, because {large.reason}"
    limit = typed("--timeout", "the time limit")
    return f"{why}. Cancel and an interrupt stop it at once; {limit} stops it after {program.limits.timeout:g} s."


def stop(program: Program) -> bool:
    """Stop the worker that compiles the program; False where none does. The stage then fails."""
    from jaxstage_ext.worker import pool  # it needs Unix

    waits = compile_wait(program)
    if waits is None or not waits.can_stop:
        return False
    pool.stop(program.target.platform, pool.COMPILE)
    return True
