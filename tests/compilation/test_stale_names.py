"""Global variables that changed after a trace, and those that look alike and are not stale."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from magic_shell import Shell, fresh_shell

from jaxstage_ext.compilation.history.history import history
from jaxstage_ext.compilation.records.compile_log import LOG
from jaxstage_ext.compilation.records.compile_record import KeptValue
from jaxstage_ext.compilation.records.record_names import place_text
from jaxstage_ext.compilation.records.stale_names import stale_names
from jaxstage_ext.panel.showing import shown_history
from jaxstage_ext.views.compiled.stale_wording import REMEDY, stale_notes

DEFINITIONS = """
import numpy as np
scale, W, cfg, label, unused, count = 2, jnp.ones(8), {"rate": 0.1, "steps": 3}, "a", 1, 0
class Model:
    scale = 5
def helper(x):
    return x * scale + W
@jax.jit
def f(x):
    global count
    count += 1
    return helper(x) * cfg["rate"] * Model.scale
"""


@pytest.fixture
def shell() -> Iterator[Shell]:
    LOG.clear()
    shown_history.forget()
    with fresh_shell() as made:
        made.run(DEFINITIONS)
        made.run("f(W);")
        yield made


Told = tuple[str, Any, Any, str]


def stale(shell: Shell, cell: str, line: str = "%compiles") -> list[Told]:
    """The variables whose notes are shown after a cell: name, what the trace saw, what is now, and its line."""
    assert shell.run(cell).ok
    text = " ".join(shell.run(line).text.split())
    shown = [one for one in stale_names(history(), LOG.clears) if stale_notes([one])[0] in text]
    return [(one.name, _value(one.before), _value(one.now), place_text(one.record)) for one in shown]


def _value(value: KeptValue) -> Any:
    return "code" if value.code is not None else value.value if value.is_kept else value.shape


def test_what_has_been_told_is_told_in_one_line(shell: Shell) -> None:
    full = ("scale", 2, 3, "In [3]:1")
    assert stale(shell, "scale = 3") == [full]
    assert stale(shell, "") == []
    again = " ".join(shell.run("%compiles").text.split())
    assert "scale" in again and "%compiles all" in again and REMEDY not in again
    assert stale(shell, "", "%compiles all") == [full]
    assert stale(shell, "", "%compiles --function f") == [full]
    new = stale(shell, "cfg['rate'] = 0.7")
    assert new == [("cfg['rate']", 0.1, 0.7, "In [3]:1")]
    assert "scale" in shell.run("%compiles").text


def test_nothing_is_stale_at_first(shell: Shell) -> None:
    assert stale(shell, "f(W);") == []


@pytest.mark.parametrize(
    ("change", "note"),
    [
        ("scale = 3", ("scale", 2, 3, "In [3]:1")),
        ("scale = 2.0", ("scale", 2, 2.0, "In [3]:1")),
        ("W = jnp.zeros(8)", ("W", "f32[8]", "f32[8]", "In [3]:1")),
        ("W = 1.5", ("W", "f32[8]", 1.5, "In [3]:1")),
        ("cfg['rate'] = 0.2", ("cfg['rate']", 0.1, 0.2, "In [3]:1")),
        ("cfg = {'rate': 0.3}", ("cfg['rate']", 0.1, 0.3, "In [3]:1")),
        (
            "def helper(x):\n    return x * scale - W",
            ("helper", "code", "code", "In [3]:1"),
        ),
    ],
)
def test_what_changed_is_told_and_jax_indeed_uses_the_former_one(shell: Shell, change: str, note: Told) -> None:
    shell.run("x, fast = jnp.arange(8.), f(jnp.arange(8.))")
    assert stale(shell, change) == [note]
    assert shell.run("bool((f(x) == fast).all())").value is True
    assert shell.run("bool(jnp.allclose(f.__wrapped__(x), fast))").value is (change == "scale = 2.0")


@pytest.mark.parametrize(
    "change",
    [
        "unused = 2",
        "scale = 2",
        "W = W",
        "cfg['steps'] = 4",
        "cfg = {'rate': 0.1}",
        "count = 100",
        "Model.scale = 6",
        "label = 'b'",
        "def helper(x):\n\n    return x * scale + W",
        "scale = 3\nscale = 2",
    ],
)
def test_what_is_the_same_or_is_not_read_or_cannot_be_known_is_not(shell: Shell, change: str) -> None:
    assert stale(shell, change) == []


def test_a_function_that_was_traced_anew_or_defined_again_is_not(shell: Shell) -> None:
    shell.run("scale = 3")
    assert stale(shell, "jax.clear_caches()") == []
    assert stale(shell, f"{DEFINITIONS}\nscale = 4\nf(W);") == []
    assert len(stale(shell, "scale = 5")) == 1
    assert stale(shell, "def f(x): return x") == []


def test_an_earlier_trace_for_other_arguments_is_still_in_use(shell: Shell) -> None:
    shell.run("scale = 3\nf(W)\nhalf = f(W.astype(jnp.bfloat16));")
    assert stale(shell, "") == [("scale", 2, 3, "In [3]:1")]
    assert shell.run("bool(jnp.allclose(f(W), 1.5) and jnp.allclose(half, 2.0))").value is True
    assert len(stale(shell, "scale = 4")) == 1, "once for each variable of a function"
    assert stale(shell, "scale = 3\njax.clear_caches()\nf(W);") == []


def test_an_earlier_trace_for_equal_arguments_is_not_in_use(shell: Shell) -> None:
    shell.run("jax.clear_caches()\nscale = 3\nf(W);")
    assert stale(shell, "") == []


def test_a_selection_has_the_notes_of_its_functions_alone(shell: Shell) -> None:
    shell.run("@jax.jit\ndef g(x):\n    return x * unused\ng(W);")
    shell.run("scale, unused = 7, 8")
    assert len(stale(shell, "", "%compiles all")) == 2
    assert stale(shell, "", "%compiles --function g") == [("unused", 1, 8, "In [4]:4")]


def test_a_secret_text_is_not_shown(shell: Shell) -> None:
    shell.run("@jax.jit\ndef g(x):\n    return x * len(label)\ng(W);")
    assert len(stale(shell, "label = 'hunter2'")) == 1
    assert "hunter2" not in shell.run("%compiles all").text
