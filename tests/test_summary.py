"""What heads every view of an Inspection."""

from __future__ import annotations

import jax.numpy as jnp
import pytest

from jaxstage_ext import inspect
from jaxstage_ext.inspection import Inspection

X = jnp.ones((4, 4))


def views(inspection):
    return inspection.summary()["views"]


def test_the_views_are_those_that_have_something_to_show():
    assert views(inspect(jnp.tanh, X, stage="lower")) == ["code"]
    compiled = inspect(jnp.tanh, X)
    assert views(compiled) == ["code", "passes", "machine", "options"]
    assert views(Inspection.from_json(compiled.to_json())) == ["code"]


def test_several_targets_can_be_compared():
    several = inspect(jnp.tanh, X, target=["local", "cpu:2"])
    assert [views(each)[:2] for each in several.targets.values()] == [["code", "compare"]] * 2


def test_a_compile_that_fails_still_has_its_options():
    def refused(x):
        raise TypeError("no")

    with pytest.raises(TypeError) as caught:
        inspect(refused, X)
    assert views(caught.value.inspection) == ["code", "options"]
