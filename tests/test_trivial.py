"""Programs with next to nothing in them: staged, shown and run as JAX does, for every kind of target, twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from absent import REQUIRED, needs
from what_runs import IS_OLDEST_SUITE

from jaxstage_ext import inspect
from jaxstage_ext.api.inspection import Inspection
from jaxstage_ext.core.targets import packages

pytestmark = pytest.mark.usefixtures("kept_answers")
X = np.arange(6, dtype=np.float32).reshape(2, 3)
EMPTY = np.zeros((0, 3), np.float32)

PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "identity": (lambda x: x, (X,)),
    "one of two": (lambda x, y: y, (X, X + 1)),
    "twice the same": (lambda x: (x, x), (X,)),
    "a constant": (lambda: jnp.float32(3), ()),
    "a constant, argument unused": (lambda x: 4.0, (X,)),
    "a constant array": (lambda x: np.ones((2, 2), np.float32), (X,)),
    "no output": (lambda x: None, (X,)),
    "no output, no argument": (lambda: None, ()),
    "an empty tuple": (lambda x: (), (X,)),
    "empty trees": (lambda t: {"a": [], "b": t}, ({"x": (), "y": None},)),
    "empty arrays": (lambda x: x + 1, (EMPTY,)),
    "a sum of nothing": (lambda x: x.sum(), (EMPTY,)),
    "no work left": (lambda x: x + 0 * x.size - 0, (jnp.int32(2),)),
    "unused work": (lambda x: (jnp.sin(x), x)[1], (X,)),
    "a static": (jax.jit(lambda n, x: x, static_argnums=0), (3, X)),
    "donated": (jax.jit(lambda x: x, donate_argnums=0), (X,)),
    "kept unused": (jax.jit(lambda x, y: x, keep_unused=True), (X, X)),
    "a key": (lambda key: key, (jax.random.key(0),)),
}
TARGETS = {"local": "", "cpu:2": "cpu", "v5e:2x2": "tpu", "h100:2": "cuda"}


def targets() -> list[str]:
    """Those that can be compiled for here; with JAXSTAGE_COMPILERS=required all of them. The oldest suite: CPUs."""
    if IS_OLDEST_SUITE:
        return ["local", "cpu:2"]
    if REQUIRED:
        needs("tpu")
        needs("cuda")
    return [name for name, platform in TARGETS.items() if not packages.find(platform).lacks]


def instructions(inspection: Inspection) -> int:
    return len([line for line in inspection.documents["hlo"].lines if line.startswith("  ") and " = " in line])


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_staged_and_shown(name: str) -> None:
    function, arguments = PROGRAMS[name]
    staged = inspect(function, *arguments, target=targets())
    shown, html = repr(staged), staged._repr_mimebundle_()["text/html"]
    for target, inspection in staged.targets.items():
        check_staged(inspection, target)
        title = inspection.summary()["target"].split(" · ")[0]
        assert title in shown and title in html
    assert Inspection.from_json(staged.to_json()).summary()["name"]
    for target, inspection in inspect(function, *arguments, target=targets()).targets.items():
        check_staged(inspection, f"{target}, from the inspection cache")


def check_staged(inspection: Inspection, which: str) -> None:
    assert inspection.error is None, (which, inspection.error)
    summary = inspection.summary()
    assert [stage["state"] for stage in summary["stages"]] == ["done"] * 3
    assert [document["kind"] for document in summary["documents"]] == ["python", "jaxpr", "stablehlo", "hlo"]
    assert f"{instructions(inspection):,} instr" in summary["stages"][-1]["count"], which


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_runs_as_in_jax(name: str) -> None:
    function, arguments = PROGRAMS[name]
    for _ in range(2):
        value = inspect(function, *map(copied, arguments)).execute()
        expected = (
            jax.jit(function)(*map(copied, arguments))
            if not hasattr(function, "lower")
            else function(*map(copied, arguments))
        )
        assert jax.tree.structure(value) == jax.tree.structure(expected)
        for one, other in zip(jax.tree.leaves(value), jax.tree.leaves(expected), strict=True):
            if not jnp.issubdtype(other.dtype, jax.dtypes.prng_key):
                np.testing.assert_array_equal(one, other)


def copied(argument: Any) -> Any:
    return jnp.array(argument) if isinstance(argument, np.ndarray) else argument


def test_the_cache_does_not_confuse_them() -> None:
    asked = [(name, target) for name in PROGRAMS for target in targets()[:2]]
    told = [[inspect(PROGRAMS[name][0], *PROGRAMS[name][1], target=target) for name, target in asked] for _ in range(2)]
    for first, second in zip(*told, strict=True):
        for kind in ("jaxpr", "stablehlo", "hlo"):
            assert first.documents[kind].text == second.documents[kind].text
