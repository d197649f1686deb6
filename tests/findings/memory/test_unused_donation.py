"""Donated arguments whose memory no result takes, and in what the result differs."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import PartitionSpec as P

from jaxstage_ext import inspect
from jaxstage_ext.findings.finding import TrialOutcome
from jaxstage_ext.findings.finding_kind import FindingKind

N = 1024
MATRIX = N * N * 4


def array(dtype: Any = jnp.float32) -> Any:
    return jax.ShapeDtypeStruct((N, N), dtype)


def update(p: Any, g: Any) -> Any:
    return {"w": p["w"] - 0.1 * g}


def update_alike(p: Any, g: Any) -> Any:
    return {"w": p["w"] - (0.1 * g).astype(p["w"].dtype)}


def total(p: Any, g: Any) -> Any:
    return jnp.sum(p["w"] * g)


HALF, FULL = {"w": array(jnp.bfloat16)}, {"w": array()}


def of(function: Any, *arguments: Any, **options: Any) -> list[Any]:
    found = inspect(function, *arguments, **options).findings
    assert FindingKind.UNUSED_DONATION in found.looked
    return [one for one in found if one.kind is FindingKind.UNUSED_DONATION]


@pytest.mark.filterwarnings("ignore:Some donated buffers were not usable")
@pytest.mark.parametrize("target", ["local", "v5e:1x1", "h100"])
def test_an_operand_of_another_dtype_promotes_the_result(target: str) -> None:
    """bf16 - f32 is f32, so the result of 4 MB cannot lie in the 2 MB of the argument; as bf16 it does."""
    [one] = of(jax.jit(update, donate_argnames="p"), HALF, array(), target=target)
    assert one.names == ("p['w']",)
    assert "bf16" in one.change.code
    assert int(one.line.rpartition(":")[2]) == update.__code__.co_firstlineno + 1
    assert one.stake.most == MATRIX
    trial = one.try_()
    if one.stake.whole is None:  # JAX 0.10 does not say what an executable for an absent device takes
        assert trial.outcome is TrialOutcome.UNKNOWN
    else:
        assert trial.outcome is TrialOutcome.PAYS
        assert trial.realised == pytest.approx(MATRIX, rel=0.01)


@pytest.mark.filterwarnings("ignore:Some donated buffers were not usable")
def test_a_result_of_another_sharding() -> None:
    """The result is whole on each device, the argument an eighth."""
    whole = {"w": jax.NamedSharding(jax.sharding.AbstractMesh((8,), ("x",)), P())}
    function = jax.jit(update, donate_argnames="p", out_shardings=whole)
    [one] = of(function, FULL, array(), target="cpu:8", mesh={"x": 8}, in_specs=(P("x"), P("x")))
    assert one.names == ("p['w']",)
    assert one.stake.most == MATRIX
    trial = one.try_()
    assert trial.outcome is TrialOutcome.PAYS


@pytest.mark.filterwarnings("ignore:Some donated buffers were not usable")
def test_a_result_of_which_a_device_holds_a_part_alone() -> None:
    """The argument is whole on each device: sharded as the result is, an eighth of it is left, and that is donated."""
    parts = {"w": jax.NamedSharding(jax.sharding.AbstractMesh((8,), ("x",)), P("x"))}
    function = jax.jit(update, donate_argnames="p", out_shardings=parts)
    [one] = of(function, FULL, array(), target="cpu:8", mesh={"x": 8}, in_specs=(P(), P("x")))
    assert one.stake.most == MATRIX
    trial = one.try_()
    assert trial.outcome is TrialOutcome.PAYS
    assert trial.realised == pytest.approx(MATRIX, rel=0.05)


@pytest.mark.filterwarnings("ignore:Some donated buffers were not usable")
@pytest.mark.parametrize(
    ("function", "arguments"),
    [(update_alike, (HALF, array())), (update, (FULL, array())), (total, (FULL, array()))],
    ids=["cast back", "same dtype", "no result of the kind"],
)
@pytest.mark.parametrize("target", ["local", "v5e:1x1"])
def test_twins_have_no_finding(function: Any, arguments: Any, target: str) -> None:
    assert of(jax.jit(function, donate_argnames="p"), *arguments, target=target) == []
