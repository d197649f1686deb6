"""Attacks: functions whose globals, closures and attributes change between inspections, and files edited at any moment.

What is shown is what JAX runs; where that is not what the code now says, it is said. The right answers come from NumPy
and from the texts that were written.
"""

from __future__ import annotations

import importlib
import linecache
import random
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from attack import Attack

from jaxstage_ext import inspect
from jaxstage_ext.api.inspection import Inspection
from jaxstage_ext.ir.sources import source_wording
from jaxstage_ext.ir.sources.source_texts import SourceState

X = np.arange(1, 5, dtype=np.float32)
NUMBERS = [0.5, 1.0, 2.0, 3.0, 4.0, -1.0]

READS = {
    "a global": ("k", "", lambda names, value: names.update(k=value)),
    "a dictionary": ("table['k']", "table = {'k': k, 'other': 1}", lambda names, value: names["table"].update(k=value)),
    "a list": ("items[1]", "items = [0, k]", lambda names, value: names["items"].__setitem__(1, value)),
    "an attribute": (
        "config.k",
        "class Config: pass\nconfig = Config()\nconfig.k = k",
        lambda names, value: setattr(names["config"], "k", value),
    ),
    "a class": ("Config.k", "class Config:\n    k = k", lambda names, value: setattr(names["Config"], "k", value)),
    "a function": ("get()", "def get(): return k", lambda names, value: names.update(k=value)),
    "a lambda": ("(lambda: k)()", "", lambda names, value: names.update(k=value)),
    "a partial": ("get()", "get = functools.partial(lambda v: v * k, 1.0)", lambda names, value: names.update(k=value)),
    "a property": (
        "thing.k",
        "class Thing:\n    @property\n    def k(self): return self._k\nthing = Thing()\nthing._k = k",
        lambda names, value: setattr(names["thing"], "_k", value),
    ),
}
FORMS = {
    "plain": "def fn(x): return x * {read} + 1",
    "jit": "@jax.jit\ndef fn(x): return x * {read} + 1",
    "jit inside": "@jax.jit\ndef inner(x): return x * {read}\ndef fn(x): return inner(x) + 1",
    "jit in jit": "@jax.jit\ndef inner(x): return x * {read}\n@jax.jit\ndef fn(x): return inner(x) + 1",
    "vmap": "fn = jax.vmap(lambda x: x * {read} + 1)",
    "jit of vmap": "fn = jax.jit(jax.vmap(lambda x: x * {read} + 1))",
    "a loop": "def body(c, _): return c * {read}, None\ndef fn(x): return jax.lax.scan(body, x, None, length=1)[0] + 1",
    "checkpoint": "def block(x): return x * {read}\ndef fn(x): return jax.checkpoint(block)(x) + 1",
}


def test_values_that_change(request: pytest.FixtureRequest) -> None:
    attack = Attack("values that change between inspections", attempts=400, in_ci=25, request=request)
    for rng in attack:
        attack.ended(_changed_values(rng))


def _changed_values(rng: random.Random) -> str:
    read, setting, change = READS[rng.choice(list(READS))]
    names: dict[str, Any] = {"jax": jax, "jnp": jnp, "functools": __import__("functools"), "k": rng.choice(NUMBERS)}
    text = f"{setting}\n{FORMS[rng.choice(list(FORMS))].format(read=read)}"
    exec(compile(text, f"/home/me/attack_{rng.random()}.py", "exec"), names)
    value = first = names["k"]
    if was_called := rng.random() < 0.3:
        names["fn"](X)
    ended = set()
    for look in range(3):
        if rng.random() < 0.6:
            change(names, value := rng.choice(NUMBERS))
        first = value if look == 0 and not was_called else first
        ended.add(_is_right(inspect(names["fn"], X), names["fn"], value, first, text, was_called))
    return ", then ".join(sorted(ended))


def _is_right(
    inspection: Inspection, fn: Callable[..., Any], value: float, first: float, text: str, called: bool
) -> str:
    """Raises AssertionError for a stale answer that nobody is told of, and for a false alarm."""
    shown, notes = np.asarray(inspection.execute()), [n for n in inspection.summary()["notes"] if "JAX" in n]
    np.testing.assert_allclose(shown, np.asarray(fn(X)), rtol=1e-6, err_msg=text)
    is_stale = not np.allclose(shown, X * value + 1)
    quoted = {float(number) for note in notes for number in re.findall(r"version with \S+ = (-?[\d.]+)\.", note)}
    assert quoted <= {first}, (text, first, value, notes)
    if called and any(inner in text for inner in ("inner", "body", "block")):
        assert notes == [] or "first inspected" in notes[0], (text, notes)
        return "of an inner function that JAX traced before anyone looked"
    assert is_stale == bool(notes), (text, first, value, notes)
    if is_stale and not called:
        assert quoted == {first}, (text, first, notes)
    return "an old version, said so" if is_stale else "what the code says"


EXPRESSIONS = ["jnp.sin(x)", "jnp.cos(x)", "jnp.tanh(x) * 2", "x + x"]


def _module_text(rng: random.Random) -> str:
    above = "".join(
        rng.choice(["# a line\n", "\n", "K = 3\n", "def g(x):\n    return x\n\n\n"]) for _ in range(rng.randrange(5))
    )
    before = "".join(rng.choice(["    # inside\n", "\n"]) for _ in range(rng.randrange(3)))
    below = "\n\n# the end\n" * rng.randrange(3)
    return f"import jax.numpy as jnp\n{above}\n\ndef f(x):\n{before}    return {rng.choice(EXPRESSIONS)}\n{below}"


def test_files_that_are_edited(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    attack = Attack("files edited between the trace and the look", attempts=2000, in_ci=100, request=request)
    for number, rng in enumerate(attack):
        path = tmp_path / f"attacked_{number}.py"
        attack.ended(_edited_files(rng, path))
        sys.modules.pop(path.stem, None)


def _edited_files(rng: random.Random, path: Path) -> str:
    path.write_text(loaded := _module_text(rng))
    importlib.invalidate_caches()
    module: ModuleType = importlib.import_module(path.stem)
    pending: list[tuple[Inspection, str]] = []
    for _ in range(rng.randrange(2, 7)):
        step = rng.choice(["edit", "reload", "check", "read", "inspect", "inspect", "delete"])
        if step == "edit":
            path.write_text(_module_text(rng))
        elif step == "reload" and path.exists():
            loaded, module = path.read_text(), importlib.reload(module)
        elif step == "check":
            linecache.checkcache()
        elif step == "read":
            linecache.getlines(str(path))
        elif step == "inspect":
            pending.append((inspect(module.f, X, stage="trace"), loaded))
        elif step == "delete" and rng.random() < 0.2:
            path.unlink(missing_ok=True)
    pending.append((inspect(module.f, X, stage="trace"), loaded))
    return ", then ".join(sorted({_is_of(inspection, text) for inspection, text in pending}))


def _is_of(inspection: Inspection, text: str) -> str:
    """Raises AssertionError where a line is shown as the source of what another line made."""
    pane, jaxpr = inspection.documents["python"], inspection.documents["jaxpr"]
    unsure = (SourceState.OTHER_CODE, SourceState.UNAVAILABLE)
    if any(source_wording.title("", state).removeprefix("# ") in pane.lines[0] for state in unsure):
        return "source unknown, said so"
    [expression] = [
        line.strip() for line in text.split("\n") if line.startswith("    return") and line != "    return x"
    ]
    for number in range(1, len(jaxpr) + 1):
        if (span := jaxpr.source_of(number)) is not None:
            rows = pane.lines_from(span.file, span.line)
            assert [pane.lines[row - 1].strip() for row in rows] == [expression], (text, pane.text, span)
    return "the text of the trace"
