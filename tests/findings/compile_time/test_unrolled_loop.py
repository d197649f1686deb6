"""Loops over equal layers. Counts are those of the loops below, by hand; what a scan saves is compiled."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxstage_ext import Inspection, inspect
from jaxstage_ext.core.jax_private import jaxprs
from jaxstage_ext.findings import trial
from jaxstage_ext.findings.compile_time import scan_code, unrolled_loop
from jaxstage_ext.findings.finding import StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind

COUNT, WIDTH = 12, 16
SOURCE = """
import jax, jax.numpy as jnp

def block(layer, x):
    normed = (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-6)
    return x + jax.nn.gelu(normed @ layer["up"]) @ layer["down"]

def loss(layers, x):
    for layer in layers:
        x = block(layer, x)
    return (x ** 2).mean()

def step(layers, x):
    value, slopes = jax.value_and_grad(loss)(layers, x)
    return value, jax.tree.map(lambda p, g: p - 0.1 * g, layers, slopes)

def scanned(stacked, x):
    return (jax.lax.scan(lambda x, layer: (block(layer, x), None), x, stacked)[0] ** 2).mean()
"""
KEYS = jax.random.split(jax.random.key(0), 2 * COUNT)
LAYERS = [
    {"up": jax.random.normal(a, (WIDTH, 2 * WIDTH)), "down": jax.random.normal(b, (2 * WIDTH, WIDTH))}
    for a, b in zip(KEYS[::2], KEYS[1::2], strict=True)
]
STACKED = jax.tree.map(lambda *leaves: jnp.stack(leaves), *LAYERS)
X = jnp.ones((4, WIDTH))


@pytest.fixture(autouse=True)
def however_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unrolled_loop, "LEAST", 0.0)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return load(tmp_path_factory.mktemp("model") / "looped_model.py", SOURCE)


def load(file: Path, source: str) -> ModuleType:
    file.write_text(source)
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def found(inspection: Inspection) -> list[Any]:
    return [one for one in unrolled_loop.find(inspection.program) if one.kind is FindingKind.UNROLLED_LOOP]


@pytest.fixture(scope="module", params=["cpu:1", "v5e:1x1"])
def trained(request: pytest.FixtureRequest, model: ModuleType) -> Inspection:
    return inspect(model.step, LAYERS, X, target=request.param)


def test_a_loop_over_layers_and_its_derivative_are_one_finding(trained: Inspection) -> None:
    [one] = found(trained)
    assert one.line.endswith(f"looped_model.py:{line_of('for layer in layers')}")
    assert one.stake.measure is StakeMeasure.COMPILE
    assert 0.5 < one.stake.share < 1


def test_the_trial_compiles_a_scan_over_stacked_arguments(trained: Inspection) -> None:
    [one] = found(trained)
    assert one.change is not None
    after = trial.changed_program(trained.program, one.change.stage)
    jaxpr = after.jax_traced.jaxpr
    assert [eqn.primitive.name for eqn in jaxpr.eqns].count("scan") == 3, "forwards, backwards and the update"
    assert sorted(var.aval.shape[0] for var in jaxpr.invars if len(var.aval.shape) == 3) == [COUNT, COUNT]
    assert after.has_hlo
    assert jaxprs.count_equations(jaxpr) < jaxprs.count_equations(trained.program.jax_traced.jaxpr) / 2


def test_the_code_of_the_change_computes_the_same(trained: Inspection, model: ModuleType, tmp_path: Path) -> None:
    [one] = found(trained)
    assert one.change.is_diff
    assert one.change.code.count("\n+ ") == 2
    edits = scan_code.edits(SOURCE.splitlines(), line_of("for layer in layers"))
    lines = [new for number, old in enumerate(SOURCE.splitlines(), 1) for new in edits.get(number, (old,))]
    changed = load(tmp_path / "changed_model.py", "\n".join(lines))
    assert "scan[" in str(jax.make_jaxpr(changed.loss)(LAYERS, X))
    np.testing.assert_allclose(changed.loss(LAYERS, X), model.loss(LAYERS, X), rtol=1e-5)


def test_a_scan_and_eight_layers_are_no_finding(model: ModuleType) -> None:
    assert found(inspect(jax.grad(model.scanned), STACKED, X)) == []
    assert found(inspect(jax.grad(model.loss), LAYERS[:8], X)) == []


def test_a_loop_that_no_machine_can_rewrite_offers_no_trial() -> None:
    """Each body writes another row of the cache that all of them hand on, which a scan would take row by row."""

    def decode(layers: Any, cache: Any, x: Any) -> Any:
        for at, layer in enumerate(layers):
            cache = cache.at[at].set(x)
            x = x + jax.nn.gelu((x - cache[at].mean()) @ layer["up"]) @ layer["down"]
        return cache, x

    [one] = found(inspect(decode, LAYERS, jnp.zeros((COUNT, *X.shape)), X))
    assert one.change is not None and not one.can_be_tried


def test_what_compiles_at_once_is_no_finding(model: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unrolled_loop, "LEAST", 1000.0)
    assert found(inspect(model.loss, LAYERS, X)) == []


def test_updates_of_many_arrays_are_no_layers() -> None:
    def update(params: list[jax.Array], slopes: list[jax.Array]) -> list[jax.Array]:
        return [p - 0.1 * g / (jnp.sqrt(jnp.sum(g * g)) + 1e-6) for p, g in zip(params, slopes, strict=True)]

    arrays = [jnp.ones((8, 8))] * 12
    assert found(inspect(update, arrays, arrays)) == []


def line_of(text: str) -> int:
    return 1 + next(i for i, line in enumerate(SOURCE.splitlines()) if text in line)
