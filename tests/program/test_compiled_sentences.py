"""What is said of compiled layouts, against compiles of specs written by hand and against the text of the module."""

from __future__ import annotations

import re
from typing import Any

import pytest
from jax.sharding import PartitionSpec as P
from searched_models import mlp

import jaxstage_ext
from jaxstage_ext.ir.partitioning.partitioned_module import CollectiveKind
from jaxstage_ext.program.device.device_roofline import device_roofline
from jaxstage_ext.search.layout_result import CompileEffort, DecisionKind, ExchangeMatch

pytestmark = pytest.mark.usefixtures("kept_answers")
STEP, ARGUMENTS = mlp(1024, 4096, 64)


def hand_written(params: dict[str, P], data: P) -> dict[str, Any]:
    return {"in_specs": (params, params, params, data, data), "out_specs": (params, params, params)}


@pytest.mark.once("figures of a GPU that is not here")
def test_what_a_decision_saves_is_the_difference_of_two_compiles() -> None:
    """Megatron's split of a wide MLP, and everything on each device, both by hand."""
    search = jaxstage_ext.find_shardings(
        STEP, *ARGUMENTS, target="h100:8", mesh="model=8", most_axes=1, confirm=1, budget=600
    )
    assert search.best.specs[:2] == ((("model",), ()), ((), ("model",))), "down by rows, up by columns"
    [split, *_] = search.decisions()
    assert (split.kind, split.effort, split.dimensions) == (DecisionKind.SPLIT, CompileEffort.DEFAULT, ("up",))
    halves = hand_written({"up": P(None, "model"), "down": P("model")}, P())
    layouts = halves, hand_written({"up": P(), "down": P()}, P())
    opened = [jaxstage_ext.inspect(STEP, *ARGUMENTS, target="h100:8", mesh="model=8", **how) for how in layouts]
    with_it, without = (device_roofline(one.program).total for one in opened)
    assert split.seconds == pytest.approx(without - with_it)
    assert "estimated" not in search.sentences()[0] and "compiled" in search.sentences()[0]
    beside = next(one.number for one in search.found.layouts if one.compiled is None and one.candidate)
    assert all(one.effort is None for one in search.decisions(beside))
    assert "estimated" in search.sentences(beside)[0]


def test_a_layout_says_what_xla_gathers_instead() -> None:
    """Parameters stored over both axes of a mesh: XLA gathers one of them whole, where the estimate moves the data."""
    own = hand_written({"up": P("a", "b"), "down": P("a", "b")}, P(("a", "b")))
    search = jaxstage_ext.find_shardings(
        STEP, *ARGUMENTS, target="cpu:8", mesh="a=4,b=2", in_specs=own["in_specs"], confirm=0, budget=0.01
    )
    assert search.own is not None
    figures = search.confirm(search.own.number)
    text = search._search.open_program(search.own.number, effort=CompileEffort.LOW).executable.as_text()
    gathered = re.findall(r"= f32\[(\d+),(\d+)\]\S* all-gather\(", text)
    assert figures.match is ExchangeMatch.OTHERWISE and figures.difference is not None
    more = figures.difference.more
    assert more is not None and more.kind is CollectiveKind.ALL_GATHER
    assert more.bytes == sum(4 * int(rows) * int(columns) for rows, columns in gathered)
    estimated = sum(part.bytes for part in search.own.estimate.parts if part.kind is CollectiveKind.ALL_GATHER)
    assert figures.difference.more_estimated == estimated < more.bytes / 2
    assert more.argument in ("params['up']", "params['down']")
    assert search.sentences(search.own.number)[-1].count("gathers") == 2
