"""Values that are made of small ones and reduced to small ones: in pieces they are never in memory whole."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxstage_ext import inspect
from jaxstage_ext.findings.finding import StakeMeasure, TrialOutcome
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.findings.memory import whole_intermediate

TOKENS, VOCABULARY, WIDTH = 4096, 16_384, 64
LOGITS = TOKENS * VOCABULARY * 4


def losses(w: Any, x: Any, labels: Any) -> Any:
    logits = x @ w
    picked = jnp.take_along_axis(logits, labels[..., None], -1)[..., 0]
    return jax.nn.logsumexp(logits, -1) - picked


def loss(w: Any, x: Any, labels: Any) -> Any:
    return jnp.mean(losses(w, x, labels))


def in_pieces_by_hand(size: int) -> Any:
    """As the finding says: what is computed of one row, under a checkpoint, mapped over all."""

    def mean(w: Any, x: Any, labels: Any) -> Any:
        each = jax.checkpoint(lambda row: losses(w, *row))
        return jnp.mean(jax.lax.map(each, (x, labels), batch_size=size))

    return jax.value_and_grad(mean)


def nearest(a: Any, points: Any) -> Any:
    return jnp.sum(jnp.sort(jnp.sum((a - points) ** 2, -1))[:16])


def of_all(points: Any) -> Any:
    def one(a: Any) -> Any:
        return nearest(a, points)

    return jax.vmap(one)(points)


def network(ws: Any, x: Any) -> Any:
    """Its activations are large too, and lead from one to the next."""
    for w in ws:
        x = jax.nn.relu(x @ w)
    return jnp.mean(x**2)


def f32(*shape: int) -> Any:
    return jax.ShapeDtypeStruct(shape, jnp.float32)


GIVEN = f32(WIDTH, VOCABULARY), f32(TOKENS, WIDTH), jax.ShapeDtypeStruct((TOKENS,), jnp.int32)
POINTS = f32(4096, 4)


def of(function: Any, *arguments: Any, **options: Any) -> tuple[list[Any], Any]:
    ins = inspect(function, *arguments, **options)
    assert FindingKind.WHOLE_INTERMEDIATE in ins.findings.looked
    return [one for one in ins.findings if one.kind is FindingKind.WHOLE_INTERMEDIATE], ins


@pytest.fixture
def small_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a device of little memory, so that a small program is large for it."""
    monkeypatch.setattr(whole_intermediate, "SCARCE", 0.0)


@pytest.mark.usefixtures("small_device")
@pytest.mark.parametrize("target", ["local", "v5e:1x1", "h100"])
def test_the_logits_of_a_cross_entropy(target: str) -> None:
    """268 MB; the change made by hand takes what the trial says, and that is less than promised to be saved."""
    [one], _ = of(jax.value_and_grad(loss), *GIVEN, target=target)
    assert one.names == (f"f32[{TOKENS},{VOCABULARY}]",)
    assert int(one.line.rpartition(":")[2]) in range(losses.__code__.co_firstlineno, loss.__code__.co_firstlineno)
    assert one.stake.measure is StakeMeasure.MEMORY and one.stake.most >= LOGITS
    assert "jax.lax.map(jax.checkpoint(f), xs, batch_size=512)" in one.change.code
    trial = one.try_()
    by_hand = inspect(in_pieces_by_hand(512), *GIVEN, target=target).program.memory_statistics
    after = trial.after.memory_statistics.sizes["temp_size_in_bytes"]
    assert by_hand.sizes["temp_size_in_bytes"] == pytest.approx(after, abs=0.25 * LOGITS)
    if one.stake.whole is None:  # JAX 0.10 does not say what an executable for an absent device takes
        assert trial.outcome is TrialOutcome.UNKNOWN
    else:
        assert trial.outcome is TrialOutcome.PAYS
        assert 0.5 * LOGITS < trial.realised <= one.stake.most


@pytest.mark.usefixtures("small_device")
@pytest.mark.parametrize("target", ["local", "v5e:1x1", "h100"])
def test_a_vmap_of_all_pairs(target: str) -> None:
    """The squares of all distances: f32[4096,4096], 67.1 MB."""
    [one], _ = of(of_all, POINTS, target=target)
    assert "+    return jax.lax.map(one, points, batch_size=512)" in one.change.code.splitlines()
    trial = one.try_()
    assert trial.outcome is (TrialOutcome.UNKNOWN if one.stake.whole is None else TrialOutcome.PAYS)
    assert trial.realised is None or trial.realised <= one.stake.most


@pytest.mark.usefixtures("small_device")
@pytest.mark.parametrize("target", ["local", "v5e:1x1", "h100"])
@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (in_pieces_by_hand(256), GIVEN),
        (jax.grad(network), ([f32(512, 512)] * 2, f32(32_768, 512))),
        (lambda x: jnp.tanh(x[:, None] * x), (f32(4096),)),
    ],
    ids=["in pieces", "network", "large result"],
)
def test_twins_have_no_finding(function: Any, arguments: Any, target: str) -> None:
    assert of(function, *arguments, target=target)[0] == []


def test_no_finding_where_there_is_memory_enough() -> None:
    """0.8 GB of the 80 GB of an H100."""
    found, _ = of(jax.value_and_grad(loss), *GIVEN, target="h100")
    assert found == [] or found[0].stake.whole is None


def test_no_finding_of_a_small_program() -> None:
    small = f32(WIDTH, 512), f32(64, WIDTH), jax.ShapeDtypeStruct((64,), jnp.int32)
    assert of(jax.value_and_grad(loss), *small)[0] == []
