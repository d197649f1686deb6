"""Storing parameters over an axis is FSDP where the axis splits the batch, and tensor parallelism where it does not."""

from dataclasses import replace

import pytest
from made_searches import estimate
from made_up_layouts import MadeUp

from jaxstage_ext.search.followed_storage import with_followed
from jaxstage_ext.search.kind_of_layout import kind_of
from jaxstage_ext.search.kinds import LayoutKind
from jaxstage_ext.search.layout_candidate import LayoutCandidate, MeshAxis
from jaxstage_ext.search.layout_order import Searched, found
from jaxstage_ext.search.layout_result import SearchEnd
from jaxstage_ext.search.layout_specs import LayoutSpecs, specs_of
from jaxstage_ext.search.space.axis_names import candidate_of
from jaxstage_ext.search.space.axis_options import AxisOption

PROBLEM = MadeUp().problem()


@pytest.mark.parametrize(
    ("splits", "name", "kind"),
    [("batch", "fsdp", LayoutKind.FSDP), ("", "model", LayoutKind.TENSOR), ("heads", "model", LayoutKind.TENSOR)],
)
def test_the_kind_and_the_name_of_an_axis_that_stores(splits: str, name: str, kind: LayoutKind) -> None:
    made = candidate_of(PROBLEM, (8,), (AxisOption(frozenset(splits.split()), True),))
    assert [axis.name for axis in made.axes] == [name]
    assert kind_of(PROBLEM, made) is kind


def test_what_is_split_as_it_is_stored_has_names() -> None:
    heads = LayoutCandidate((MeshAxis("model", 2, frozenset({"heads"}), stores=True),))
    specs = specs_of(PROBLEM, heads)
    by_hand = {
        name
        for argument, spec in zip(PROBLEM.arguments, specs.arguments, strict=True)
        for name, axes in zip(argument.dimensions, spec or (), strict=True)
        if argument.is_parameter and axes
    } - {"heads"}
    [axis] = with_followed(PROBLEM, heads, specs).axes
    assert {"hidden", "vocab"} <= by_hand == set(axis.follows)
    assert set(axis.divides) == by_hand | {"heads"}


def test_an_axis_of_the_batch_stores_without_splitting_the_model() -> None:
    stored = LayoutCandidate((MeshAxis("fsdp", 8, frozenset({"batch"}), stores=True),))
    [axis] = with_followed(PROBLEM, stored, specs_of(PROBLEM, stored)).axes
    assert axis.follows == () and axis.divides == ("batch",)


def test_specs_that_split_data_by_a_dimension_of_the_model_are_not_replicated() -> None:
    *weights, tokens = PROBLEM.arguments
    features = replace(tokens, path="features", shape=(1024,), dimensions=("d_model",))
    problem = replace(PROBLEM, arguments=(*weights, features))
    whole = tuple(((),) * len(argument.shape) for argument in weights)
    about = Searched(1, 1, {}, SearchEnd.WHOLE, 0.0)
    kinds = []
    for last in ((("data",),), ((),)):
        own = LayoutSpecs((("data", 8),), (*whole, last), ())
        [layout] = found(problem, {own: (None, estimate(1.0, 0.0, 1))}, own, about).layouts
        kinds.append(layout.kind)
    assert kinds == [LayoutKind.TENSOR, LayoutKind.REPLICATED]
