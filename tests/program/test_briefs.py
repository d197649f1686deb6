"""The short forms for language models: bounded, equal for equal programs, with the panel's figures; nothing runs."""

from __future__ import annotations

import functools
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from traitlets import ObjectName, Unicode

import jaxstage_ext
from jaxstage_ext import Inspection
from jaxstage_ext.report.table import Column, Table
from jaxstage_ext.report.text.brief_text import MIME_TYPE, MOST_BYTES, brief_text


@jax.jit
def step(params: jax.Array, x: jax.Array) -> jax.Array:
    return params - 0.1 * jax.grad(lambda w: (jnp.tanh(x @ w) ** 2).sum())(params)


def inspected() -> Inspection:
    params = jax.ShapeDtypeStruct((1024, 1024), jnp.float32)
    return jaxstage_ext.inspect(step, params, np.ones((4, 1024), np.float32))


@functools.cache
def kept() -> Inspection:
    return inspected()


def test_it_has_the_panel_s_figures_and_findings() -> None:
    brief, summary = kept()._repr_llm_(), kept().summary()
    assert summary["signature"] in brief
    for figure in summary["facts"]:
        if figure["label"] != "persistent cache":
            assert f"{figure['label']} {figure['text']}" in brief
    assert [f"[{one.kind.value}]" in brief for one in kept().findings[:3]] == [True] * len(kept().findings[:3])
    assert "missing donation" in brief


def test_every_expression_in_it_runs() -> None:
    expressions = re.findall(r"\bins\.[\w.]+(?:\(\"[^\"]*\"\)|\([^()]*\))?(?:\.\w+\([^()]*\))?", kept()._repr_llm_())
    assert len(expressions) > 5
    for expression in expressions:
        assert eval(expression, {"ins": kept()}) is not None, expression


def test_equal_programs_have_equal_texts() -> None:
    assert inspected()._repr_llm_() == inspected()._repr_llm_()
    assert not re.search(r"\b[\d.]+ m?s\b", kept()._repr_llm_())


def test_a_failure_comes_first() -> None:
    def wrong(x: jax.Array) -> jax.Array:
        return x @ jnp.ones((3, 3))

    with pytest.raises(TypeError) as caught:
        jaxstage_ext.inspect(wrong, np.ones((2, 2), np.float32))
    brief: str = caught.value.inspection._repr_llm_()  # type: ignore[attr-defined]
    assert "trace failed" in brief and "TypeError" in brief
    assert len(brief.encode()) <= MOST_BYTES


def test_it_compiles_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    from jaxstage_ext.core.targets import cross_compile
    from jaxstage_ext.program.questions.memory import memory

    inspection, asked = inspected(), []
    monkeypatch.setattr(cross_compile, "isolated", asked.append)
    inspection._repr_llm_()
    assert asked == [] and not memory.is_known(inspection.program)


def test_a_notebook_that_asks_for_it_gets_it_alone() -> None:
    assert kept()._repr_mimebundle_(include=[MIME_TYPE]) == {MIME_TYPE: kept()._repr_llm_()}


def test_a_saved_notebook_does_not_grow_by_it_and_who_asks_for_several_forms_has_it_too() -> None:
    """IPython takes what the bundle holds and asks no `_repr_llm_`; who registers it for that type asks by itself."""
    from IPython.core.formatters import BaseFormatter, DisplayFormatter

    class ShortForms(BaseFormatter):
        format_type = Unicode(MIME_TYPE)
        print_method = ObjectName("_repr_llm_")

    both = kept()._repr_mimebundle_(include=[MIME_TYPE, "text/plain"])
    data, _ = both if isinstance(both, tuple) else (both, {})
    assert data[MIME_TYPE] == kept()._repr_llm_() and data["text/plain"]
    plain, reader = DisplayFormatter(), DisplayFormatter()
    reader.formatters[MIME_TYPE] = ShortForms()
    assert MIME_TYPE not in plain.format(kept())[0]
    assert reader.format(kept())[0][MIME_TYPE] == kept()._repr_llm_()


def test_a_table_is_short_whatever_it_holds() -> None:
    hostile = ["<b>\x1b[2J\u202e\n" + "n" * 1_000_000] * 100
    brief = Table("cost", {"name": Column(hostile), "size": Column([None] * 100, "B")},
                  {(0, "size"): "nobody says"})._repr_llm_()  # fmt: skip
    assert len(brief.encode()) <= MOST_BYTES
    assert "size unknown (nobody says)" in brief and "\x1b" not in brief and "\u202e" not in brief
    assert "100 rows" in brief and ".to_json(limit=10" in brief


def test_what_has_no_room_gives_way_between_what_is_kept() -> None:
    text = brief_text(["head"], ["x" * 300] * 20, ["tail"])
    assert text.startswith("head\n") and text.endswith("…\ntail")
    assert len(text.encode()) <= MOST_BYTES
