"""A function that JAX traced before its first inspection: which version runs is learned by tracing it once more."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from traced_functions import X, defined, versions

from jaxstage_ext import inspect
from jaxstage_ext.core.staleness.traced_versions import ChangedName


def test_values_from_before_the_first_inspection_are_not_claimed() -> None:
    """JAX traced with k = 1.0, which nobody saw; it is not said to run the version with k = 2.0."""
    cell = defined("k = 1.0\n@jax.jit\ndef inner(x): return x * k\ndef fn(x): return inner(x) + 1")
    cell["inner"](X)
    cell["k"] = 2.0
    inspect(cell["fn"], X, stage="trace")
    cell["k"] = 3.0
    [old] = versions(cell["fn"], X)
    assert (old.function, old.changed, old.is_of_trace) == ("inner", (ChangedName("k", "2.0"),), False)


BEFORE: dict[str, tuple[str, Any, Any, tuple[ChangedName, ...]]] = {
    "a number": ("x * k", 2.0, 3.0, (ChangedName("k", "2.0"),)),
    "an integer": ("x * k", 2, 7, (ChangedName("k", "2"),)),
    "a rounded number": ("x * k", 0.123456789, 0.987654321, (ChangedName("k", "0.12345679"),)),
    "what the number makes": (
        "x * (k**2 + 1)",
        2.0,
        3.0,
        (),
    ),
    "a branch": ("jnp.sin(x) if k else jnp.cos(x)", True, False, ()),
    "an array of NumPy": ("x * k", np.ones(4, np.float32), np.zeros(4, np.float32), ()),
    "an array of JAX": (
        "x * k",
        jnp.ones(4),
        jnp.zeros(4),
        (ChangedName("k", ""),),
    ),
}


@pytest.mark.parametrize("kind", BEFORE)
def test_a_change_between_a_call_and_the_first_inspection(kind: str) -> None:
    """JAX traced when the user called; a fresh trace tells that it is not what the code says now."""
    text, before, after, changed = BEFORE[kind]
    cell = defined(f"@jax.jit\ndef fn(x): return {text}", k=before)
    kept = np.asarray(cell["fn"](X))
    cell["k"] = after
    for _ in range(2):
        [old] = versions(cell["fn"], X)
        assert (old.function, old.changed, old.is_of_trace) == ("fn", changed, True)
    np.testing.assert_array_equal(np.asarray(inspect(cell["fn"], X).execute()), kept)
    cell["k"] = before
    assert versions(cell["fn"], X) == []


def test_a_function_that_was_called_and_not_changed_is_known_from_then_on() -> None:
    cell = defined("k = 2.0\n@jax.jit\ndef fn(x): return jax.nn.relu(x) * k")
    cell["fn"](X)
    assert versions(cell["fn"], X) == []
    cell["k"] = 3.0
    assert versions(cell["fn"], X)[0].changed == (ChangedName("k", "2.0"),)


@pytest.mark.parametrize(
    ("text", "traces"),
    [
        ("x * 2", 1),  # reads nothing that can change
        ("x * k", 2),
        ("x * rng.random() * k", 3),  # no two traces are the same
        ("functools.reduce(lambda a, b: a + b, [x * k] * 1200)", 1),  # too much work
    ],
)
def test_how_often_a_function_is_traced_to_learn_that(text: str, traces: int, capsys: Any) -> None:
    cell = defined(f"@jax.jit\ndef fn(x):\n    print('traced')\n    return {text}", k=2.0, rng=np.random.default_rng())
    cell["fn"](X)
    inspection = inspect(cell["fn"], X, stage="trace")
    assert capsys.readouterr().out.count("traced") == traces
    assert inspection.summary()["notes"] == []
    assert inspection.summary()["stages"][0]["note"] == "cached"


def test_a_library_that_counts_traces_is_not_asked_for_one_more() -> None:
    """As chex.assert_max_traces does, which fails after the last trace that it allows."""
    wrap = (
        "def wrap(fn):\n    @functools.wraps(fn)\n"
        "    def call(x):\n        made.append(1)\n        return fn(x)\n    return call"
    )
    made: list[int] = []
    library: dict[str, Any] = {"functools": functools, "made": made}
    exec(compile(wrap, "/env/lib/python3.13/site-packages/counting.py", "exec"), library)
    jitted = jax.jit(library["wrap"](defined("k = 2.0\ndef fn(x): return x * k")["fn"]))
    jitted(X)
    assert versions(jitted, X) == [] and len(made) == 1
