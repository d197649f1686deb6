"""What each room decides, without a sentence: enums, figures, names and lines."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np
from compile_records import compile_record
from heard_compiles import heard_compiles
from magic_shell import fresh_shell
from recordings import Event, recording
from said.mosaic_wording import SPEC, WORDS
from said.timing_wording import NOISY
from traced_functions import defined

import jaxstage_ext
from jaxstage_ext import inspect
from jaxstage_ext.compilation.causes.cause import Difference
from jaxstage_ext.compilation.history.history import History, history
from jaxstage_ext.compilation.records.compile_log import LOG
from jaxstage_ext.compilation.records.compile_record import CompileRecord
from jaxstage_ext.compilation.records.stale_names import stale_names
from jaxstage_ext.ir.sources.source_texts import SourceState
from jaxstage_ext.profiling.mosaic.mosaic_recording import decode
from jaxstage_ext.profiling.op_places import without_places
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.program.kinds.logged_program import LoggedProgram

X = np.ones((4, 4), np.float32)
CELLS = """
@jax.jit
def step(x, lr=1.0): return x * lr * scale
---
step(x)
---
step(x, 2)
---
step(x, lr=2)
---
step(x.astype(jnp.bfloat16))
---
step(jnp.ones((3, 4)))
---
@jax.jit
def sized(x, n): return x + jnp.zeros(n).sum()
sized(x, 3)
---
shaped = jax.jit(lambda x, n: x * len(n), static_argnames="n")
shaped(x, n=(1, 2))
---
shaped(x, n=(1, 2, 3))
---
shaped(x, n=[1])
---
for rate in (0.1, 0.2): jax.jit(lambda x: x * rate)(x)
---
for _ in range(2): jax.jit(lambda x: x + 1)(x)
---
jax.jit(lambda tree: tree["a"] * 2)({"a": x}); update = jax.jit(lambda s: s * 2, donate_argnums=0); s = x + 1; update(s)
---
update(s)
---
jax.clear_caches(); step(x)
---
scale = 3
"""


def compiles(folder: Path) -> dict[str, Any]:
    """Recompiles of a notebook with the usual mistakes, and the variables that became stale."""
    with heard_compiles() as heard, fresh_shell() as shell:
        shell.run("scale = 2")
        for cell in CELLS.split("---\n"):
            shell.run(cell)
        found = history()
        assert len({found.verdict(record).cause for record in heard.users()}) >= 9
        table = list(found.table().rows())
        return {
            "causes": [_judged(found, record) for record in heard.users()],
            "outcomes": [
                (row["function"], row["outcome"], row["line"] is None) for row in table[-len(heard.users()) :]
            ],
            "stale": [(one.name, one.before.value, one.now.value) for one in stale_names(found, LOG.clears)],
        }


def _judged(found: History, record: CompileRecord) -> tuple[Any, ...]:
    made = found.verdict(record)
    differences = [_difference(each) for each in made.differences]
    return record.name, made.cause, differences, made.can_be_mended, made.is_wasted, found.advice(record) is None


def _difference(each: Difference) -> tuple[Any, ...]:
    return each.cause, each.what, each.before, each.now, each.target, each.is_of_new_class


def versions(folder: Path) -> list[Any]:
    """Functions of which JAX runs an earlier version."""
    found = []
    for text in ("x * k", "jnp.sin(x) if k else jnp.cos(x)"):
        cell = defined(f"k = 2.0\n@jax.jit\ndef fn(x): return {text}\n")
        inspect(cell["fn"], X, stage="trace")
        cell["k"] = 0.0
        program = inspect(cell["fn"], X, stage="trace").program
        found += [(one.function, one.changed, one.is_of_trace) for one in program.old_versions]
    return found


def sources(folder: Path) -> list[SourceState]:
    """Files that are edited and deleted after the trace."""
    found = []
    for name, change in (("kept", _leave), ("edited", _edit), ("deleted", Path.unlink)):
        file = folder / f"model_{name}.py"
        file.write_text("import jax.numpy as jnp\n\n\ndef f(x):\n    return jnp.sin(x)\n")
        program = inspect(_loaded(file).f, X, stage="lower").program
        change(file)
        assert program.documents["python"]
        found.append(program.frame_table.sources.state(str(file)))
    return found


def _leave(file: Path) -> None:
    assert file.exists()


def _edit(file: Path) -> None:
    file.write_text("# another text\n" + file.read_text())


def _loaded(file: Path) -> Any:
    sys.path.insert(0, str(file.parent))
    try:
        importlib.invalidate_caches()
        sys.modules.pop(file.stem, None)
        return importlib.import_module(file.stem)
    finally:
        sys.path.remove(str(file.parent))


def timing(folder: Path) -> list[Any]:
    """A measurement, and the noise of times made by hand."""
    _, measured = jaxstage_ext.measure(lambda x: x @ x, X, runs=8)
    kinds = [(made.noise, made.median, made.uncertainty) for made in NOISY.values()]
    return [measured.mode, measured.source, measured.device, measured.runs, measured.same_kernels, *kinds]


def captures(folder: Path) -> list[Any]:
    """Which runs a profile has, of a function that donates and of one that does not."""
    found = []
    for options in ({}, {"donate_argnums": 0}):
        _, made = jaxstage_ext.profile(jax.jit(lambda x: x * 2, **options), np.ones(4, np.float32))
        captured = made.program.captured
        assert captured is not None
        found.append((captured.first_run, captured.steps, captured.python, captured.failed, captured.command_buffers))
    return found


def timelines(folder: Path) -> list[Any]:
    """What a recording made by hand says first, its rates, and ranges on a device."""
    events = [
        Event("ops", "fusion.1", 0, 60, op=("jit_f", "fusion.1")),
        Event("ops", "dot.2", 90, 10, op=("jit_f", "dot.2")),
    ]
    headline = Timeline(made := recording(events), without_places(made)).headline
    made = decode(WORDS, SPEC)
    shown = (headline.bound, headline.op, headline.op_share, headline.idle, headline.gaps, headline.doing.cause)
    return [shown, made.unit, made.events.duration.tolist(), Timeline(made, without_places(made)).headline.bound]


def logged(folder: Path) -> tuple[Any, ...]:
    """A record whose artefacts are gone."""
    program = LoggedProgram(compile_record(number=7))
    return (
        program.missing,
        [(stage.name, stage.state, stage.hit) for stage in program.staged.stages],
        program.is_optimised,
    )


ROOMS: dict[str, Callable[[Path], Any]] = {
    room.__name__: room for room in (compiles, versions, sources, timing, captures, timelines, logged)
}
