"""What an offline page holds: what was computed, and nothing is computed for it unless all tabs are asked for."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest

from jaxstage_ext import Inspection, inspect
from jaxstage_ext.panel.saving import page_replies
from jaxstage_ext.program.machine_code.kernels import kernels
from jaxstage_ext.program.questions.memory import memory
from jaxstage_ext.program.questions.passes import passes
from jaxstage_ext.program.tab import cheap_facts
from jaxstage_ext.views import computed_facts
from jaxstage_ext.views.static_html import panel_html
from jaxstage_ext.views.text import panel_text


def large(monkeypatch: pytest.MonkeyPatch) -> Inspection:
    monkeypatch.setattr(cheap_facts, "MOST_LINES", 3)
    return inspect(jax.grad(lambda w, x: jnp.tanh(x @ w).sum()), jnp.ones((64, 64)), jnp.ones((8, 64)))


def test_nothing_is_compiled_for_the_page_of_a_large_program(monkeypatch: pytest.MonkeyPatch) -> None:
    program = large(monkeypatch).program
    saved = page_replies.replies(program)
    assert not any(fact.is_known(program) for fact in (memory, passes, kernels))
    assert {"code", "options"} <= saved.tabs
    assert not {"memory", "passes", "machine"} & saved.tabs


def test_a_tab_that_was_computed_is_there_with_what_it_leads_to(monkeypatch: pytest.MonkeyPatch) -> None:
    inspection = large(monkeypatch)
    assert inspection.memory.space().peak > 0
    saved = page_replies.replies(inspection.program)
    assert "memory" in saved.tabs
    assert any(name.startswith("memory at ") for name in saved.replies)
    assert 'answer {"question":"memory"}' in saved.replies


def test_still_forms_show_the_answers_and_tables_that_are_known_of_a_large_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    inspection = large(monkeypatch)
    titles = [shown.title for shown in computed_facts.tables(inspection.program)]
    assert "layouts of arguments and results" not in titles
    assert inspection.memory and inspection.layouts and inspection.options and len(inspection.dispatch)
    texts = panel_text([inspection.program]), panel_html([inspection.program])
    for form in texts:
        assert "Which line holds the most memory?" in form
        for title in ("layouts of arguments and results", "compile options", "dispatch"):
            assert title in form


def test_tables_that_do_not_fit_are_left_out_the_last_first(monkeypatch: pytest.MonkeyPatch) -> None:
    from jaxstage_ext.views.computed_html import fitting_html

    inspection = large(monkeypatch)
    assert inspection.memory and inspection.layouts and inspection.options
    whole = fitting_html(inspection.program, 1 << 20)
    less = fitting_html(inspection.program, len(whole.encode()) * 2 // 3)
    assert "compile options" in whole and "compile options" not in less
    assert "Does it fit?" in less and "layouts of arguments" in less
