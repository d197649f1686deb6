"""What a compiler gave is stored under the one key of its program, whatever was asked: without a key, nowhere."""

from __future__ import annotations

import contextlib
import hashlib
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from absent import needs
from jax.sharding import PartitionSpec as P

import jaxstage_ext
from jaxstage_ext.api.inspection import Inspection
from jaxstage_ext.core import executables
from jaxstage_ext.core.jax_private import lowered_modules
from jaxstage_ext.core.targets import environments, packages, placement
from jaxstage_ext.ir import cached_documents
from jaxstage_ext.program.questions.propagated_module import propagated_module
from jaxstage_ext.report.unavailable import Unavailable
from jaxstage_ext.store import cache
from jaxstage_ext.worker import pool

pytestmark = pytest.mark.usefixtures("no_workers_left")
TARGETS = {"cpu:4": "x=2,y=2", "v5e:2x2": "x=2,y=2", "h100:2": "x=2,y=1"}


def step(w, x):
    return jnp.tanh(x @ w).sum(axis=0)


def inspected(target: str) -> Inspection:
    needs(target)
    specs = {"w": P("x", "y"), "x": P(None, "x")}
    shapes = (jax.ShapeDtypeStruct((64, 64), jnp.float32), jax.ShapeDtypeStruct((8, 64), jnp.float32))
    return jaxstage_ext.inspect(step, *shapes, target=target, mesh=TARGETS[target], in_specs=specs)


def ask_everything(inspection: Inspection) -> None:
    """Every question there is, each kernel's texts among them."""
    for document in inspection.documents.values():
        assert len(document)
    asked = ("answers", "cost", "roofline", "memory", "shardings", "collectives", "dtypes", "passes", "kernels")
    for name in (*asked, "row", "summary", "flag_table", "to_json"):
        with contextlib.suppress(Unavailable):
            value = getattr(inspection, name)
            if callable(value):
                value()
    assert propagated_module(inspection.program)
    kernels = inspection.kernels
    kernels.measure()
    for kernel in kernels.rows[:2]:
        for stage in kernel.stages:
            with contextlib.suppress(Unavailable):
                kernel.document(stage)


@pytest.fixture
def stored(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """The keys of each store, as they come."""
    keys: dict[str, list[str]] = {"cache": [], "documents": [], "devices": [], "executables": []}
    places = {"documents": cached_documents._known, "devices": placement._known, "executables": executables._made}
    put = cache.put
    monkeypatch.setattr(cache, "put", lambda key, data: (keys["cache"].append(key), put(key, data))[1])
    for name, table in places.items():
        _watch(table, keys[name], monkeypatch)
    return keys


def _watch(table: Any, keys: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    put = table.put
    monkeypatch.setattr(table, "put", lambda key, *rest: (keys.append(key), put(key, *rest))[1])


def content_keys(inspection: Inspection) -> set[str]:
    """Of what is known by its own bytes: the StableHLO, and the module of a predicted timeline."""
    stablehlo = cache.key("stablehlo", lowered_modules.module_bytecode(inspection.lowered))
    return {stablehlo, f"recorded module {hashlib.sha256(inspection.program.proto() or b'').hexdigest()}"}


@pytest.mark.parametrize("target", ["cpu:4", "v5e:2x2"])
def test_a_program_without_a_key_is_stored_nowhere(
    target: str, stored: dict[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environments, "key", lambda environment, *parts: None)
    inspection = inspected(target)
    ask_everything(inspection)
    documents = set(stored.pop("documents"))
    assert stored == {"cache": [], "devices": [], "executables": []} and documents <= content_keys(inspection)


@pytest.mark.parametrize("target", TARGETS)
def test_everything_that_is_stored_is_under_a_key_of_the_environment(
    target: str, stored: dict[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str | None] = []
    key = environments.key
    monkeypatch.setattr(environments, "key", lambda *parts: (made.append(key(*parts)), made[-1])[1])
    inspection = inspected(target)
    ask_everything(inspection)
    used = {key for keys in stored.values() for key in keys} - content_keys(inspection)
    assert {key.split()[-1] for key in used} <= set(made)
    least = {"cpu:4": 4, "v5e:2x2": 5, "h100:2": 4}[target]
    assert len(set(stored["cache"])) >= least, "compile, passes, memory, kernels; devices and bundles of a TPU"


@pytest.mark.parametrize("target", TARGETS)
def test_nothing_is_stored_where_the_compiler_is_replaced_during_the_request(
    target: str, stored: dict[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """pip installs another one between the key and the answer."""
    needs(target)
    ask, identity = pool.ask, packages.identity

    def replaced(*arguments: Any, **how: Any) -> Any:
        answer = ask(*arguments, **how)
        monkeypatch.setattr(packages, "identity", lambda name: (*identity(name), "replaced"))
        return answer

    monkeypatch.setattr(pool, "ask", replaced)
    with pytest.raises(Unavailable, match="was replaced while this program was compiled; run its cell again"):
        jaxstage_ext.inspect(step, jnp.ones((4, 4)), jnp.ones((4, 4)), target=target)
    assert stored["cache"] == stored["devices"] == stored["executables"] == []
    monkeypatch.setattr(pool, "ask", ask)
    assert jaxstage_ext.inspect(step, jnp.ones((4, 4)), jnp.ones((4, 4)), target=target).compiled.key
