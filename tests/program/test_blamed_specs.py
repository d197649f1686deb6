"""What is said of the user's own specs, applied: the mended specs take what was promised."""

from __future__ import annotations

from typing import Any

import pytest
from hand_written_layouts import STEPS, by_path
from jax.sharding import PartitionSpec as P
from searched_models import mlp

import jaxstage_ext
from jaxstage_ext.api.find_shardings import ShardingSearch
from jaxstage_ext.search.layout_specs import LayoutSpecs
from jaxstage_ext.search.own_blame import Blame

ROWS, COLUMNS = P("data"), P(None, "data")


def searched(step: Any, arguments: Any, own: Any, budget: float = 0.01) -> ShardingSearch:
    return jaxstage_ext.find_shardings(
        step, *arguments, target="h100:8", mesh="data=8", in_specs=own, confirm=0, budget=budget, most_axes=1
    )


def mended(search: ShardingSearch, blame: Blame) -> float:
    """Seconds of the user's own layout with the better specs, by an estimate that is asked for by itself."""
    own = search.own
    assert own is not None and own.estimate.middle is not None
    better = {leaf: group.better for group in blame.groups for leaf in group.leaves}
    arguments = tuple(better.get(leaf, spec) for leaf, spec in enumerate(own.specs))
    [estimate] = search._search._search.score_more([LayoutSpecs(tuple(own.mesh.items()), arguments, own.results)])
    assert estimate is not None and estimate.middle is not None
    return own.estimate.middle - estimate.middle


def test_data_by_features_and_parameters_by_rows() -> None:
    step, arguments = mlp(1024, 4096, 8192)
    rows = {"up": ROWS, "down": ROWS}
    search = searched(step, arguments, (rows, rows, rows, COLUMNS, COLUMNS), budget=60)
    assert search.own is not None and search.best.number < search.own.number
    [first, *_] = search._search.blame()
    assert [group.names for group in first.groups] == [("batch[#]",)]
    assert first.seconds == pytest.approx(mended(search, first)) and (first.seconds or 0) > 0
    assert search.sentences(search.own.number)


def test_a_planted_spec_of_a_moment() -> None:
    step, arguments = mlp(1024, 4096, 8192)
    rows = {"up": ROWS, "down": ROWS}
    search = searched(step, arguments, (rows, rows, rows | {"down": COLUMNS}, P("data"), P("data")))
    assert any(group.names == ("second['down']",) for one in search._search.blame() for group in one.groups)


@pytest.mark.seldom("a search of a flax transformer; the MLP has the same")
def test_a_flax_transformer_by_rows_and_time() -> None:
    step, (params, state, tokens), _ = STEPS["flax transformer"]()

    def rows(path: str, leaf: Any) -> P:
        places = [place for place, size in enumerate(leaf.shape) if size % 8 == 0] if leaf.ndim > 1 else []
        return P(*(None,) * places[0], "data") if places else P()

    search = searched(step, (params, state, tokens), (*by_path(rows, params, state), COLUMNS), budget=60)
    [first, *_] = search._search.blame()
    assert [group.names for group in first.groups] == [("tokens",)]
    assert first.seconds == pytest.approx(mended(search, first))
