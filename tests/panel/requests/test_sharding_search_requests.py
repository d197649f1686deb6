"""The tab of the search of layouts: what was found as columns, one layout, its compile, what a notebook holds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from made_searches import GB, LAYOUTS, MadeSearch, found, keep, many
from panel_requests import ask
from searched_models import mlp
from wire_columns import columns

import jaxstage_ext
from jaxstage_ext.panel.params import BadRequest
from jaxstage_ext.panel.requests import sharding_search_requests
from jaxstage_ext.panel.saving.first_replies import keep_first_replies
from jaxstage_ext.panel.saving.kept_replies import KeptReplies
from jaxstage_ext.program import tabs
from jaxstage_ext.program.searching.program_search import FixedChoices, SearchBudget, search_program
from jaxstage_ext.search.kinds import LayoutKind
from jaxstage_ext.views.static_html import panel_html

MARKUP = "<img src=x onerror=alert(1)>"


def program() -> Any:
    return jaxstage_ext.inspect(jnp.tanh, jnp.ones(8), stage="lower").program


@pytest.fixture
def searched() -> tuple[Any, MadeSearch]:
    made = program()
    return made, keep(made, MadeSearch())


def test_the_layouts_are_columns_with_the_best_the_own_and_the_front(searched: tuple[Any, MadeSearch]) -> None:
    shown = searched[0]
    assert tabs.first(shown) == "sharding_search"
    result, buffers = ask(shown, "sharding_search", most=2000)
    column = columns(result, buffers)
    assert column["number"] == [0, 1, 2, 3, 4, 5]
    ends = [(max(0.08, 0.01), 0.08 + 0.01), (0.085, 0.105)]  # of the first two: work against collectives
    np.testing.assert_allclose(column["least"][:2], [low for low, _ in ends], rtol=1e-6)
    np.testing.assert_allclose(column["most"][:2], [high for _, high in ends], rtol=1e-6)
    assert all(low <= at <= high for low, at, high in zip(*(column[n] for n in ("least", "time", "most")), strict=True))
    np.testing.assert_allclose(column["arguments"], [b * GB for b in (4.5, 9, 1.2, 2, 3, 17)], rtol=1e-6)
    assert column["front"] == [1, 0, 1, 0, 0, 0]  # nothing is smaller than FSDP's 1.2 GB
    assert (result["best"], result["own"], result["bests"]) == (0, 4, [0, 1, 2, 3, 5])
    assert result["running"] is None and result["cannot"] == ""


def test_a_compile_is_shown_from_then_on(searched: tuple[Any, MadeSearch]) -> None:
    shown, search = searched
    before, _ = ask(shown, "sharding_search_layout", layout=2)
    assert before["state"] == 0 and all(part["compiled"] is None for part in before["parts"])
    ask(shown, "sharding_search_compile", layout=2)
    after, _ = ask(shown, "sharding_search_layout", layout=2)
    assert search.compiles == 1 and after["state"] == 1 and "6.3 GB" in after["fit"]
    assert after["parts"][-1]["compiled"] == 0.0932
    result, buffers = ask(shown, "sharding_search", most=2000)
    needed = columns(result, buffers)["needed"]
    assert needed[2] == pytest.approx(6.3 * GB) and np.isnan(needed[0])
    assert result["best"] == 2, "what was compiled and fits is compared with what was not"


@pytest.mark.usefixtures("kept_answers")
@pytest.mark.once("figures of a GPU that is not here")
def test_decisions_stay_estimated_where_their_layout_alone_was_compiled() -> None:
    """A compile from the panel is of the layout, not of the layouts without its decisions, and its sentences say so."""
    step, arguments = mlp(1024, 4096, 64)
    shown = jaxstage_ext.inspect(step, *arguments, target="h100:8", stage="lower").program
    search_program(shown, FixedChoices(mesh="model=8", most_axes=1), SearchBudget(60))
    before, _ = ask(shown, "sharding_search_layout", layout=0)
    fit = ask(shown, "sharding_search_compile", layout=0)[0]["text"]
    after, _ = ask(shown, "sharding_search_layout", layout=0)
    assert before["state"] == 0 and after["state"] == 1 and after["fit"] == fit
    assert after["parts"][-1]["compiled"] is not None, "times of the compile stand beside"
    [decision, *_] = after["decisions"]
    assert "saves an estimated" in decision and not any("as compiled" in one for one in after["decisions"])
    assert after["decisions"][: len(before["decisions"])] == before["decisions"]


def test_a_layout_opens_as_a_call_beside_this_one(searched: tuple[Any, MadeSearch]) -> None:
    shown, search = searched
    search.opened = program()
    assert ask(shown, "sharding_search_open", layout=0)[0] == {"call": 1}
    assert ask(shown, "sharding_search_open", layout=0)[0] == {"call": 1} and shown.opened == [search.opened]


def test_of_many_layouts_those_that_matter_are_sent_first_and_a_notebook_holds_them() -> None:
    shown = program()
    everything = found(LAYOUTS + many(6000).layouts)
    search = keep(shown, MadeSearch(everything))
    result, buffers = ask(shown, "sharding_search", most=2000)
    numbers = columns(result, buffers)["number"]
    front = {layout.number for layout in everything.layouts if layout.on_front}
    assert len(numbers) == 2000 and everything.own is not None
    assert front | {everything.own.number} <= set(numbers) and numbers == sorted(numbers)
    kinds = {search.found.layouts[number].kind for number in numbers}
    assert kinds == set(LayoutKind)
    kept = KeptReplies()
    keep_first_replies([shown], kept)
    assert any(key.startswith("sharding_search ") for key in kept.of(shown).replies)


def test_without_a_search_the_tab_says_why_or_offers_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharding_search_requests, "why_not_searched", lambda program: "it has one device")
    alone = program()
    assert "one device" in ask(alone, "sharding_search", most=9)[0]["cannot"]
    with pytest.raises(BadRequest, match="were not searched"):
        ask(alone, "sharding_search_layout", layout=0)


def test_names_are_text_in_every_still_form(searched: tuple[Any, MadeSearch]) -> None:
    shown, search = searched
    first, *rest = search.found.layouts
    search.found = replace(search.found, layouts=(replace(first, mesh={MARKUP: 8}, candidate=None), *rest))
    html = panel_html([shown])
    assert MARKUP not in html and "&lt;img src=x" in html and "data:image/png" in html
