"""An operand that forces a promotion: which one, where, how far it reaches, and that casting it pays."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxstage_ext import inspect
from jaxstage_ext.findings.compute import promotion
from jaxstage_ext.findings.finding import StakeMeasure, TrialOutcome

BF16 = jnp.bfloat16
X = jax.ShapeDtypeStruct((256, 512), BF16)
W = jax.ShapeDtypeStruct((512, 512), BF16)
SCALE = np.float32(0.125)
TABLE = np.linspace(0, 1, 512, dtype=np.float32)


def scaled(x: Any, w: Any) -> Any:
    return jnp.tanh((x * SCALE) @ w)


def scaled_by_number(x: Any, w: Any) -> Any:
    return jnp.tanh((x * 0.125) @ w)


def masked(x: Any, w: Any) -> Any:
    mask = jnp.tril(jnp.ones((256, 512)))
    return jnp.tanh((x * mask) @ w)


def with_table(x: Any, w: Any) -> Any:
    y = x * TABLE
    for _ in range(3):
        y = jax.nn.gelu(y @ w)
    return y


def with_narrow_table(x: Any, w: Any) -> Any:
    y = x * jnp.asarray(TABLE).astype(x.dtype)
    for _ in range(3):
        y = jax.nn.gelu(y @ w)
    return y


def rotated(x: Any, w: Any) -> Any:
    angle = jnp.arange(256.0)[:, None] / 10000 ** (jnp.arange(256) / 256)
    cos, sin = jnp.cos(angle), jnp.sin(angle)
    a, b = jnp.split(x, 2, -1)
    return jnp.concatenate([a * cos - b * sin, a * sin + b * cos], -1) @ w


def normalised(x: Any, w: Any) -> Any:
    """f32 on purpose, and back: as normalisation layers do."""
    wide = x.astype(jnp.float32)
    wide = wide * jax.lax.rsqrt(jnp.mean(wide**2, -1, keepdims=True) + 1e-6)
    return jax.nn.softmax(wide.astype(BF16) @ w) @ w


def head(x: Any, w: Any) -> Any:
    """The last product in f32 on purpose."""
    return jnp.tanh(x @ w).astype(jnp.float32) @ w.astype(jnp.float32)


def in_scan(x: Any, ws: Any) -> Any:
    def layer(h: Any, w: Any) -> Any:
        return (jnp.tanh((h @ w) / np.sqrt(512.0)) @ w).astype(BF16), None

    return jax.lax.scan(layer, x, ws)[0]


def update(master: Any, x: Any, w: Any) -> Any:
    """A state in f32 that gradients in bf16 are added to."""
    grads = jax.grad(lambda w: jnp.sum(x @ w))(w)
    return master - 0.1 * grads


def line_of(fn: Any, offset: int) -> str:
    return f"test_promotion.py:{fn.__code__.co_firstlineno + offset}"


def found(fn: Any, *args: Any, target: str | None = None) -> list[Any]:
    ins = inspect(fn, *args, **({"target": target} if target else {"stage": "trace"}))
    return list(promotion.find(ins.program))


@pytest.mark.parametrize(
    ("fn", "names", "line", "values"),
    [
        (scaled, ("SCALE",), 1, 3),
        (masked, ("mask",), 1, None),
        (with_table, ("TABLE",), 1, None),
        (rotated, None, 2, None),
        (jax.jit(in_scan), ("the scalar 22.6274",), None, 3),
    ],
)
def test_operand_is_named_where_it_first_widens(fn: Any, names: Any, line: int | None, values: int | None) -> None:
    # known by reading the functions: 3 values are the scaled x, the product and its tanh
    given = jax.ShapeDtypeStruct((4, 512, 512), BF16) if names == ("the scalar 22.6274",) else W
    [finding] = found(fn, X, given)
    assert names is None or finding.names == names
    assert line is None or finding.line.endswith(line_of(fn, line))
    assert finding.stake.measure is StakeMeasure.MOVED
    if values:
        assert len(finding.rows["jaxpr"]) == values


@pytest.mark.parametrize("fn", [scaled_by_number, with_narrow_table, normalised, head])
def test_dtype_on_purpose_is_not_found(fn: Any) -> None:
    assert found(fn, X, W) == []


def test_wide_state_is_not_found() -> None:
    assert found(update, jax.ShapeDtypeStruct((512, 512), jnp.float32), X, W) == []


def test_wide_argument_that_widens_all_products() -> None:
    def layers(params: Any, x: Any) -> Any:
        return jnp.tanh(x @ params["w"]) @ params["w"]

    [finding] = found(layers, {"w": jax.ShapeDtypeStruct((512, 512), jnp.float32)}, X)
    assert finding.names == ("params['w']",)
    assert found(layers, {"w": W}, X) == []


def test_double_precision() -> None:
    with jax.enable_x64(True):
        [finding] = found(lambda x, w: (x * np.linspace(0, 1, 512)) @ w, *(np.ones((512, 512), np.float32),) * 2)
        assert found(lambda x, w: (x * 2.0) @ w, *(np.ones((512, 512), np.float32),) * 2) == []
    assert len(finding.rows["jaxpr"]) == 2


@pytest.mark.parametrize("fn", [with_table, rotated])
def test_casting_pays_and_not_more_than_is_said(fn: Any) -> None:
    ins = inspect(fn, X, W, target="h100")
    [finding] = [one for one in ins.findings if one.kind is promotion.DETECTOR.kind]
    made = finding.try_()
    assert made.outcome is TrialOutcome.PAYS
    assert 0 < made.realised <= finding.stake.most


def test_on_a_cpu_the_gain_is_unknown() -> None:
    [finding] = found(scaled, X, W, target="cpu:1")
    assert finding.stake.most is None


def attention(x: Any, w: Any) -> Any:
    """The scalar makes the softmax f32, which a TPU fuses into kernels that read and write bf16."""
    heads = (x @ w).reshape(8, 512, 8, 64)
    scores = jnp.einsum("bqhd,bkhd->bhqk", heads, heads) * SCALE
    mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, -1), heads)
    return mixed.reshape(8, 512, 512).astype(x.dtype) @ w


@pytest.mark.parametrize("target", ["v5e:1x1", "h100"])
def test_no_more_is_promised_than_kernels_read_and_write_wide(target: str) -> None:
    """Nothing for a TPU; on a GPU the softmax is a kernel of its own, and casting gives what was promised."""
    ins = inspect(attention, jax.ShapeDtypeStruct((8, 512, 512), BF16), W, target=target)
    made = [one for one in ins.findings if one.kind is promotion.DETECTOR.kind]
    if target == "h100":
        assert made[0].try_().realised == pytest.approx(made[0].stake.most)
    else:
        assert made == []
