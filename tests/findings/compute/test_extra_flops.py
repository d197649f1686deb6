"""Work that the result does not need: hidden by a causal mask, or computed once more under `jax.checkpoint`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxstage_ext import inspect
from jaxstage_ext.findings.compute import extra_flops
from jaxstage_ext.findings.finding import StakeMeasure, TrialOutcome
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.program.device.device_fit import device_fit

LENGTH, BLOCK = 1024, 128
Q = jax.ShapeDtypeStruct((2, LENGTH, 4, 64), jnp.bfloat16)
ONE_PRODUCT = 2 * 2 * 4 * LENGTH * LENGTH * 64
WS, X = jax.ShapeDtypeStruct((3, 512, 512), jnp.float32), jax.ShapeDtypeStruct((1024, 512), jnp.float32)


def causal(q: Any, k: Any, v: Any) -> Any:
    return jax.nn.dot_product_attention(q, k, v, is_causal=True)


def causal_by_hand(q: Any, k: Any, v: Any) -> Any:
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 8
    mask = jnp.tril(jnp.ones((LENGTH, LENGTH), bool))
    weights = jax.nn.softmax(jnp.where(mask, scores, -1e9).astype(jnp.float32)).astype(q.dtype)
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v)


def causal_by_bias(q: Any, k: Any, v: Any) -> Any:
    bias = jnp.where(jnp.arange(LENGTH)[:, None] >= jnp.arange(LENGTH), 0.0, -1e9)
    weights = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) / 8 + bias)
    return jnp.einsum("bhqk,bkhd->bqhd", weights.astype(q.dtype), v)


def full(q: Any, k: Any, v: Any) -> Any:
    return jax.nn.dot_product_attention(q, k, v)


def padded(q: Any, k: Any, v: Any) -> Any:
    """A mask by lengths, which are data."""
    mask = jnp.arange(LENGTH) < k[:, 0, 0, 0].astype(int)[:, None]
    return jax.nn.dot_product_attention(q, k, v, mask=mask[:, None, None, :])


def in_blocks(q: Any, k: Any, v: Any) -> Any:
    """Each block of queries with the keys up to its end."""
    parts = []
    for start in range(0, LENGTH, BLOCK):
        end = start + BLOCK
        mask = (jnp.arange(BLOCK)[:, None] + start >= jnp.arange(end))[None, None]
        parts.append(jax.nn.dot_product_attention(q[:, start:end], k[:, :end], v[:, :end], mask=mask))
    return jnp.concatenate(parts, 1)


def found(fn: Any, *args: Any, target: str = "cpu:1") -> list[Any]:
    return list(extra_flops.find(inspect(fn, *args, target=target).program))


@pytest.mark.parametrize("fn", [causal, causal_by_hand, causal_by_bias])
def test_causal_attention_is_half_hidden(fn: Any) -> None:
    [finding] = found(fn, Q, Q, Q)
    assert finding.stake.measure is StakeMeasure.FLOPS
    assert finding.stake.most == pytest.approx(ONE_PRODUCT, rel=0.01)  # of two products one half each, by hand
    assert len(finding.rows["jaxpr"]) == 2
    if fn is not causal:
        assert ":" in finding.line


def test_its_gradient_has_six_products() -> None:
    def loss(q: Any, k: Any, v: Any) -> Any:
        return causal_by_hand(q, k, v).astype(jnp.float32).sum()

    [finding] = found(jax.grad(loss, argnums=(0, 1, 2)), Q, Q, Q)
    assert len(finding.rows["jaxpr"]) == 6
    assert finding.stake.most == pytest.approx(3 * ONE_PRODUCT, rel=0.01)


@pytest.mark.parametrize("fn", [full, padded, in_blocks])
def test_attention_without_hidden_products(fn: Any) -> None:
    assert found(fn, Q, Q, Q) == []


def test_blocks_save_what_is_said() -> None:
    whole, blocked = (inspect(fn, Q, Q, Q, target="cpu:1") for fn in (causal, in_blocks))
    [finding] = extra_flops.find(whole.program)
    saved = whole.cost.work.total_flops - blocked.cost.work.total_flops
    assert 0.75 * finding.stake.most < saved <= 1.1 * finding.stake.most  # 7/8 of it, and what softmax leaves out


def layers(is_checkpointed: bool, in_scan: bool) -> Any:
    def layer(x: Any, w: Any) -> Any:
        return jnp.tanh(jnp.tanh(x @ w) @ w.T)

    step = jax.checkpoint(layer) if is_checkpointed else layer

    def loss(ws: Any, x: Any) -> Any:
        if in_scan:
            return jax.lax.scan(lambda c, w: (step(c, w), None), x, ws)[0].sum()
        for w in ws:
            x = step(x, w)
        return x.sum()

    return jax.grad(loss)


@pytest.mark.parametrize("target", ["cpu:1", "v5e:2x2", "h100"])
def test_leaving_a_checkpoint_out_pays_where_there_is_memory(target: str) -> None:
    ins = inspect(layers(True, False), WS, X, target=target)
    if device_fit(ins.program).needed is None:
        pytest.skip("this version of XLA does not tell what memory it needs")
    found_here = [one for one in ins.findings if one.kind is extra_flops.DETECTOR.kind]
    if target == "cpu:1" and jax.__version_info__ < (0, 11):
        assert found_here == []  # XLA for CPU merged the recomputation with the forward pass: the trial saves nothing
        return
    [finding] = found_here
    made = finding.try_()
    assert made.outcome is TrialOutcome.PAYS
    assert 0 < made.realised <= finding.stake.most
    assert extra_flops.find(made.after) == []


def test_checkpoint_in_a_scan_is_found_and_not_tried() -> None:
    [finding] = found(layers(True, True), WS, X)
    assert not finding.can_be_tried


def test_without_a_checkpoint_nothing_is_found() -> None:
    assert found(layers(False, True), WS, X) == []


@pytest.mark.once("figures of a device that is not here: the newest compilers answer")
def test_one_checkpoint_around_all_is_told_of_once() -> None:
    def loss(ws: Any, x: Any) -> Any:
        for w in ws:
            x = jnp.tanh(jnp.tanh(x @ w) @ w.T)
        return x.sum()

    ins = inspect(jax.value_and_grad(jax.checkpoint(loss)), WS, X, target="h100")
    assert [one.kind for one in ins.findings] == [FindingKind.USELESS_CHECKPOINT]


def test_checkpoint_that_the_memory_needs_is_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    program = inspect(layers(True, False), WS, X, target="cpu:1").program
    monkeypatch.setattr(extra_flops, "_FULL", 0.0)
    assert extra_flops.find(program) == []
