"""What heads every view of an Inspection."""

from __future__ import annotations

import jax.numpy as jnp
import pytest

from jaxstage_ext import inspect
from jaxstage_ext.api.inspect import prepare
from jaxstage_ext.api.inspection import Inspection
from jaxstage_ext.core.call import Call

X = jnp.ones((4, 4))


def views(inspection):
    return inspection.summary()["views"]


def test_the_views_are_those_that_have_something_to_show():
    assert views(inspect(jnp.tanh, X, stage="lower")) == ["findings", "code", "cost", "dimensions", "sharding_search"]
    compiled = inspect(jnp.tanh, X)
    assert views(compiled) == [
        "findings",
        "code",
        "answers",
        "cost",
        "memory",
        "dimensions",
        "sharding_search",
        "layouts",
        "passes",
        "machine",
        "options",
    ]
    assert views(Inspection.from_json(compiled.to_json())) == ["code"]


def test_several_targets_can_be_compared_and_saved_ones_have_the_same_figures():
    several = inspect(jnp.tanh, X, target=["local", "cpu:2"])
    assert [views(each)[:3] for each in several.targets.values()] == [["findings", "code", "compare"]] * 2
    saved = Inspection.from_json(several.to_json())
    for target, now in several.targets.items():
        row, before = saved.targets[target].row(), now.row()
        assert (row.target, row.device, row.error, row.figures) == (target, before.device, None, before.figures)
    assert saved.row().figures["memory"].value == 2 * 4 * 4 * 4, "float32[4,4] in and out, in bytes"


def test_a_compile_that_fails_still_has_its_options():
    def refused(x):
        raise TypeError("no")

    with pytest.raises(TypeError) as caught:
        inspect(refused, X)
    assert views(caught.value.inspection) == ["code", "options"]


def test_a_running_stage_tells_its_time_and_no_other_does():
    seen = []

    def looked(x):
        seen.append((made.elapsed, [stage["elapsed"] for stage in made.summary()["stages"]]))
        return jnp.tanh(x)

    (made,) = prepare(Call(looked, (X,)), "compile")
    assert made.elapsed is None
    made.advance()
    ((elapsed, (trace, lower, compiled)),) = seen
    assert 0 <= elapsed <= trace
    assert (lower, compiled) == (None, None)
    assert made.elapsed is None


def test_what_a_worker_compiles_has_the_log_of_its_worker():
    there = inspect(jnp.tanh, X, target="cpu:2")
    assert (there.summary()["worker"], inspect(jnp.tanh, X).summary()["worker"]) == (True, False)
    assert "cpu: " in there.worker_log()
