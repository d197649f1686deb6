"""Matrix products written as a product and a sum: found, and `dot_general` gives the same and pays."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxstage_ext import inspect
from jaxstage_ext.core.written_out_products import with_dots
from jaxstage_ext.findings.compute import idle_matrix_unit
from jaxstage_ext.findings.finding import StakeMeasure, TrialOutcome

A, B, C = (jax.ShapeDtypeStruct(shape, jnp.float32) for shape in ((512, 1024), (1024, 512), (512, 1024)))


def by_columns(a: Any, b: Any) -> Any:
    return jnp.sum(a[:, :, None] * b[None], axis=1)


def by_rows(a: Any, c: Any) -> Any:
    return jax.vmap(lambda row: jnp.sum(c * row, axis=-1))(a)


def in_batch(a: Any, c: Any) -> Any:
    a, c = a.reshape(4, 128, 1024), c.reshape(4, 128, 1024)
    return (a[:, None] * c[:, :, None]).sum(-1)


def distances(a: Any, c: Any) -> Any:
    """Not a product: the square of a difference loses digits as one."""
    return jnp.sum((a[:, None] - c[None]) ** 2, -1)


def elementwise(a: Any, c: Any) -> Any:
    return jnp.sum(a * c, axis=1)


def by_vector(a: Any, c: Any) -> Any:
    return jnp.sum(a * c[0], axis=1)


@pytest.mark.parametrize("target", ["h100", "v5e:2x2"])
@pytest.mark.parametrize(("fn", "second"), [(by_columns, B), (by_rows, C)])
def test_product_and_sum_is_found_and_a_dot_pays(fn: Any, second: Any, target: str) -> None:
    ins = inspect(fn, A, second, target=target)
    [finding] = [one for one in ins.findings if one.kind is idle_matrix_unit.DETECTOR.kind]
    assert finding.stake.measure is StakeMeasure.TIME
    assert finding.line.endswith(f"test_idle_matrix_unit.py:{fn.__code__.co_firstlineno + 1}")
    made = finding.try_()
    assert made.outcome is TrialOutcome.PAYS
    assert 0 < made.realised <= finding.stake.most
    assert idle_matrix_unit.find(made.after) == []


@pytest.mark.parametrize("fn", [lambda a, c: a @ c.T, distances, elementwise, by_vector])
def test_what_is_no_matrix_product_or_is_one_already(fn: Any) -> None:
    assert idle_matrix_unit.find(inspect(fn, A, C, target="h100").program) == []


@pytest.mark.parametrize(("fn", "second"), [(by_columns, B), (by_rows, C), (in_batch, C)])
def test_the_dot_gives_the_same(fn: Any, second: Any) -> None:
    arrays = [jax.random.normal(jax.random.key(at), one.shape) for at, one in enumerate((A, second))]
    jaxpr = jax.make_jaxpr(fn)(*arrays).jaxpr
    changed = with_dots(jaxpr)
    assert "dot_general" in str(changed) and "dot_general" not in str(jaxpr)
    [result] = jax.core.eval_jaxpr(changed, (), *arrays)
    assert jnp.allclose(result, fn(*arrays), rtol=1e-4, atol=1e-3)


def test_there_is_no_matrix_unit_on_a_cpu() -> None:
    assert not idle_matrix_unit.applies(inspect(by_columns, A, B, target="cpu:1").program)
