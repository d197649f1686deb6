"""Arguments and results of channels-first convolutions, which devices compute channels last."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxstage_ext import inspect
from jaxstage_ext.findings.finding import TrialOutcome
from jaxstage_ext.findings.movement import argument_layout
from jaxstage_ext.program.questions.layouts import layouts


def channels_first(x: Any, kernel: Any) -> Any:
    return jax.nn.relu(jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME"))


def channels_last(x: Any, kernel: Any) -> Any:
    made = jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return jax.nn.relu(made)


def per_image(x: Any, kernel: Any) -> Any:
    """As `jax.vmap` of equinox's layers: the batch comes before the channels."""
    return jax.vmap(lambda image: channels_first(image[None], kernel)[0])(x)


def f32(*shape: int) -> Any:
    return jax.ShapeDtypeStruct(shape, jnp.float32)


FIRST, LAST = (f32(32, 64, 56, 56), f32(64, 64, 3, 3)), (f32(32, 56, 56, 64), f32(3, 3, 64, 64))


def found(function: Any, arguments: Any, target: str) -> tuple[list[Any], Any]:
    program = inspect(function, *arguments, target=target).program
    return argument_layout.find(program), program


@pytest.mark.parametrize("target", ["v5e:1x1", "h100"])
@pytest.mark.parametrize("function", [channels_first, per_image])
def test_the_copies_are_gone_where_xla_chooses_the_layouts(function: Any, target: str) -> None:
    """25.7 MB of images go in and 25.7 MB come out."""
    [one], program = found(function, FIRST, target)
    assert one.names in (("x", "the result"), ("the result",))
    assert int(one.line.rpartition(":")[2]) == channels_first.__code__.co_firstlineno + 1
    lines = program.documents["hlo"].lines
    assert all("[32,64,56,56]" in lines[row] or "[32,56,56,64]" in lines[row] for row in one.rows["hlo"])
    [shown] = [each for each in inspect(function, *FIRST, target=target).findings if each.kind is one.kind]
    trial = shown.try_()
    assert trial.outcome is TrialOutcome.PAYS
    assert 0.3 * one.stake.most < trial.realised <= one.stake.most
    assert sum(layouts(trial.after).copies["bytes"]) < 0.1 * sum(layouts(program).copies["bytes"])


@pytest.mark.parametrize("target", ["cpu:1", "v5e:1x1", "h100"])
def test_twins_have_no_finding(target: str) -> None:
    """Channels last; and a small one, as of a test."""
    assert found(channels_last, LAST, target)[0] == []
    assert found(channels_first, (f32(2, 8, 16, 16), f32(8, 8, 3, 3)), target)[0] == []
    if target == "cpu:1":
        assert found(channels_first, FIRST, target)[0] == []
