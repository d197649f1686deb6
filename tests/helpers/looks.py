"""Every magic and public function, in one process of its own, with what each has changed.

`PYTHONPATH=. python tests/helpers/looks.py FOLDER` writes {look: [what is no longer as it was]} to FOLDER/found.json.
One process is enough: whatever a look imports stays imported, so that what one of them disturbs is seen at that look or
at one before it.
"""

from __future__ import annotations

import contextlib
import gc
import io
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import process_state
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

MODEL = """\
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import PartitionSpec as P
w, x = jnp.ones((4, 3)), jnp.ones((2, 4))
mesh = jax.make_mesh((2,), ("d",))
sharded = jax.device_put(jnp.ones((4, 4)), jax.NamedSharding(mesh, P("d")))
def loss(w, x):
    return jnp.sum(jax.checkpoint(jnp.tanh)(x @ w))
def spread(x):
    return jax.nn.logsumexp(x) + jnp.var(x)
def nan(x):
    return jnp.log(-x).sum()
step = jax.jit(loss)
step(w, x)
lowered = step.lower(w, x)
jaxpr, exported = jax.make_jaxpr(loss)(w, x), jax.export.export(step)(w, x)
def plain(w, x):
    for _ in range(3):
        w = w - 0.1 * jax.grad(loss)(w, x)
    return w
"""
MAGICS = {
    "%load_ext": "%load_ext jaxstage_ext",
    "%trace": "%trace -o ins loss(w, x)",
    "%lower": "%lower loss(w, x)",
    "%compile": "%compile -o ins loss(w, x)",
    "%%compile": "%%compile\ndef loss(w, x):\n    return jnp.sum(jnp.tanh(x @ w))\nloss(w, x)",
    "%compile of a gradient": "%compile -q jax.value_and_grad(loss)(w, x)",
    "%compile of variance": "%compile -q spread(x)",
    "%compile --run": "%compile --run loss(w, x)",
    "%compile --run, NaN": "%compile --run nan(x)",
    "%compile --isolate": "%compile -q --isolate loss(w, x)",
    "%compile -t cpu:2": "%compile -q -t cpu:2 loss(w, x)",
    "%compile -t v5e:2x2": "%compile -q -t v5e:2x2 loss(w, x)",
    "%compile -t h100": "%compile -q -t h100 loss(w, x)",
    "%compile --mesh": "%compile -q --mesh d=2 --in-spec \"P('d')\" loss(w.T[:2], x.T)",
    "%compile --vs": "%compile --vs ins loss(w, x)",
    "%compile --args": "%compile -q --args 'f32[4,3], f32[2,4]' loss",
    "%compile of a Lowered": "%compile -q lowered",
    "%compile of an Exported": "%compile -q exported",
    "%compile of a jaxpr": "%compile -q jaxpr",
    "%compile of what fails": "%compile -q loss(x, w)",
    "%dispatch": "%dispatch step(w, x)",
    "%profile": "%profile -o run --save {folder} step(w, x)",
    "%profile of Python": "%profile -q plain(w, x)",
    "%profile --python": "%profile -q --python plain(w, x)",
    "%%profile": "%%profile -n 3\nwn = step(w, x)",
    "%profile --measure": "%profile --measure step(w, x)",
    "%compiles": "%compiles",
    "%compiles all": "%compiles all",
    "%%compiles": "%%compiles\njax.jit(lambda v: v - 1)(x)",
    "%%compiles --count": "%%compiles --count\nstep(w, x)",
    "%compile_cache": "%compile_cache --verify",
    "%findings": "%findings",
    "%targets": "%targets",
    "%targets --log": "%targets --log cpu",
    "%sharding": "%sharding sharded",
    "%timeline": "%timeline {folder}",
    "%inspect": "%inspect {folder}/module.mlir",
    "%xla_flags": "%xla_flags fast math",
    "%config": "%config JAXStage",
    "help": "%compile?",
    "%reload_ext": "%reload_ext jaxstage_ext",
}
"""What a user types, by name; NaN checks are on for the ones named so."""
ATTRIBUTES = (
    "answers cost roofline memory shardings collectives dtypes layouts effects dispatch passes kernels options summary "
    "what_if flag_table coverage documents frames row worker_log"
)
PUBLIC = {
    "jaxstage_ext.inspect": "ins = jaxstage_ext.inspect(loss, w, x)",
    **{f"ins.{name}": f"str(getattr(ins.{name}, '__call__', lambda: ins.{name})())" for name in ATTRIBUTES.split()},
    "ins.to_json": "text = ins.to_json()",
    "ins.from_json": "type(ins).from_json(text)",
    "ins.to_html": "ins.to_html('{folder}/page.html')",
    "ins.compare": "str(ins.compare(jaxstage_ext.inspect(spread, x)))",
    "ins.reproducer": "ins.reproducer('{folder}/reproducer')",
    "ins.execute": "ins.execute()",
    "ins.execute, NaN": "jaxstage_ext.inspect(nan, x).execute()",
    "display(ins)": "display(ins)",
    "jaxstage_ext.profile": "_, ran = jaxstage_ext.profile(step, w, x)",
    "timeline": "t = ran.timeline; str(t), t.by_op(), t.by_line(), t.gaps(), t.steps(), t.to_pandas()",
    "timeline.to_chrome": "t.to_chrome('{folder}/t.json'); t.to_svg('{folder}/t.svg'); t.to_html('{folder}/t.html')",
    "jaxstage_ext.load": "str(jaxstage_ext.load('{folder}/t.json'))",
    "jaxstage_ext.measure": "str(jaxstage_ext.measure(step, w, x))",
    "jaxstage_ext.measure of Python": "str(jaxstage_ext.measure(loss, w, x))",
    "jaxstage_ext.compiles": "h = jaxstage_ext.compiles(); str(h), h.table(), h.recompiles()",
    "jaxstage_ext.expect_compiles": "with jaxstage_ext.expect_compiles(at_most=0): step(w, x)",
    "jaxstage_ext.compile_cache": "str(jaxstage_ext.compile_cache(verify=True))",
    "%unload_ext": "%unload_ext jaxstage_ext",
}
BEFORE_LOADING = ("jaxstage_ext.compiles", "jaxstage_ext.expect_compiles")
"""What is tried without the extension as well, and first."""
FAIL = ("%compile --run, NaN", "%compile of what fails", "ins.execute, NaN", "%targets --log", "%%compiles --count")
"""What may raise; the last needs Python 3.12."""
LOOKS = (*(f"{name}, first" for name in BEFORE_LOADING), *MAGICS, *PUBLIC)
_LISTEN = ("%load_ext", "%reload_ext", "%unload_ext", *(f"{name}, first" for name in BEFORE_LOADING))
"""What is asked to listen, or to stop: JAX's listeners, and what Python calls when it exits, may become others."""
_OF_LISTENING = ("JAX's listeners", "finders", "garbage collector", "threads")


class Looks:
    """Looks one after the other, each with what it has changed."""

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell, self._compiled = shell, process_state.Compiled()
        for _ in range(2):
            jnp.log(-jnp.ones(3))  # its calls stay in C++ from now on
        self._state = _state()

    def at(self, name: str, code: str) -> list[str]:
        """What a look has changed, one line each."""
        gc.freeze()  # what is there is not searched for garbage after each look, which takes longer than most of them
        frozen = gc.get_freeze_count()
        with _nan_checks("NaN" in name):
            before = _state() if "NaN" in name else self._state
            out = io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
                result = self._shell.run_cell(code)
            error = result.error_before_exec or result.error_in_exec
            thaws = not 0 < gc.get_freeze_count() <= frozen
            changes = process_state.differences(before, _state())
            changes += ["the objects that the garbage collector leaves alone"] if thaws else []
            changes += _unchecked() if "NaN" in name else []
        changes += self._compiled.problems()
        self._state = _state() if changes or "NaN" in name else before
        if error is not None and name not in FAIL:
            changes.append(f"it failed: {type(error).__name__}: {error} {out.getvalue()[-500:]}")
        return [each for each in changes if name not in _LISTEN or each.partition(":")[0] not in _OF_LISTENING]


@contextlib.contextmanager
def _nan_checks(are_on: bool) -> Iterator[None]:
    jax.config.update("jax_debug_nans", are_on)
    try:
        yield
    finally:
        jax.config.update("jax_debug_nans", False)


def _state() -> dict[str, Any]:
    """The state once the workers and threads that are kept for the next look have ended."""
    for module, end in (("jaxstage_ext.worker.pool", "close_all"), ("jaxstage_ext.panel.jobs", "end_all")):
        if module in sys.modules:
            getattr(sys.modules[module], end)()
    gc.collect()
    return process_state.taken()


def _unchecked() -> list[str]:
    """Whether JAX no longer refuses a NaN in a call that stays in C++."""
    x = jnp.ones(3)
    with contextlib.suppress(FloatingPointError):
        jnp.log(-x)
        return ["NaN is no longer refused"]
    return []


def main(folder: str) -> None:
    # a traceback with its source makes IPython parse all of JAX's files in it, for seconds
    plain = {"colors": "nocolor", "xmode": "Minimal"}
    shell = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}, InteractiveShell=plain))
    assert shell.run_cell(MODEL).success
    Path(folder, "module.mlir").write_text(shell.user_ns["lowered"].as_text(), encoding="utf-8")
    looks, found = Looks(shell), {}
    for name in LOOKS:
        code = (MAGICS | PUBLIC)[name.removesuffix(", first")].replace("{folder}", folder)
        if "%" not in code:
            code = f"import jaxstage_ext\n{code}"
        found[name] = looks.at(name, code)
    Path(folder, "found.json").write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
