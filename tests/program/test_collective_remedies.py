"""What removes a collective: each change that is told is applied here by hand too, and must give the same figures."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from absent import needs
from counted_calls import calls_of
from jax.sharding import PartitionSpec as P

import jaxstage_ext
from jaxstage_ext.analysis.collectives import remedy_wording
from jaxstage_ext.program.questions import collective_remedies as remedies

pytestmark = pytest.mark.usefixtures("kept_answers")

X, W = jax.ShapeDtypeStruct((64, 512), jnp.float32), jax.ShapeDtypeStruct((512, 256), jnp.float32)
TARGETS = ("cpu:8", "v5e:2x4")


def product(x: Any, w: Any) -> Any:
    return jnp.tanh(x) @ w


def inspected(target: str, fn: Any, *args: Any, **specs: Any) -> Any:
    needs(target)
    return jaxstage_ext.inspect(fn, *args, target=target, mesh="m=8", **specs)


@pytest.mark.parametrize("target", TARGETS)
def test_an_argument_that_is_resharded(target: str) -> None:
    made = inspected(target, product, X, W, in_specs=(P("m", None), P("m", None)))
    [row] = made.collective_remedies.rows()
    applied = inspected(target, product, X, W, in_specs=(P("m", None), P(None, None)))
    assert (row["collective"], row["instead"]) == ("all-gather", "w sharded P(None, None)")
    assert row["helps"] is True
    assert len(applied.collectives) == 0
    assert row["less sent"] == made.collectives.sent.most
    before, after = (one.row().figures["memory"].value for one in (made, applied))
    assert row["more memory"] == (None if None in (before, after) else after - before)


@pytest.mark.once("figures of a device that is not here: the newest compilers answer")
def test_a_result_that_is_gathered() -> None:
    made = inspected("v5e:2x4", lambda x: x * 2, X, in_specs=(P("m"),), out_specs=P())
    [row] = made.collective_remedies.rows()
    assert (row["instead"], row["helps"]) == (remedy_wording.WITHOUT_OUT_SPECS, True)
    assert len(inspected("v5e:2x4", lambda x: x * 2, X, in_specs=(P("m"),)).collectives) == 0


@pytest.mark.once("figures of a device that is not here: the newest compilers answer")
def test_arrays_of_a_pytree_whether_or_not_it_helps() -> None:
    """Training with parameters that are sharded too: what each change gives is what the compiler makes of it."""

    def loss(w: Any, x: Any) -> Any:
        return jnp.mean((jnp.tanh(x @ w[0]) @ w[1]) ** 2)

    weights = [jax.ShapeDtypeStruct((512, 512), jnp.float32)] * 2
    made = inspected("v5e:2x4", jax.grad(loss), weights, X, in_specs=(P("m"), P("m")))
    tried = {row["instead"]: row for row in made.collective_remedies.rows() if row["instead"]}
    assert any(name.startswith("w[0] sharded") for name in tried)
    given = {"w[0]": [P(), P("m")], "w[1]": [P("m"), P()]}
    changed = {name: row for name, row in tried.items() if name[:4] in given}
    assert all(name.endswith((" P()", " P(None, None)")) for name in changed)
    for name, row in changed.items():
        applied = inspected("v5e:2x4", jax.grad(loss), weights, X, in_specs=(given[name[:4]], P("m")))
        assert row["less sent"] == made.collectives.sent.most - applied.collectives.sent.most
        assert row["helps"] == (row["less sent"] > 0 and row["less in all"] >= 0)


def test_sums_over_a_sharded_dimension_are_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = calls_of(monkeypatch, remedies, "_compared")
    made = inspected("cpu:8", jnp.matmul, X, W, in_specs=(P(None, "m"), P("m", None)))
    [row] = made.collective_remedies.rows()
    assert (row["collective"], row["instead"], len(compiled)) == ("all-reduce", None, 0)
    assert "partial sums" in str(made.collective_remedies)


def test_without_collectives_there_is_nothing_to_remove() -> None:
    assert len(inspected("cpu:8", product, X, W, in_specs=(P("m", None), P())).collective_remedies) == 0
