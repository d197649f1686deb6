"""A stage's error as the panel shows it: cells by their labels, bounded, explained once however often it is asked."""

from __future__ import annotations

import time
from typing import Any

import jax.numpy as jnp
import pytest

from jaxstage_ext.api.inspect import run
from jaxstage_ext.core.call import Call
from jaxstage_ext.core.stage import stage_error
from jaxstage_ext.ir.sources import source
from jaxstage_ext.program import program
from jaxstage_ext.views.text import panel_text

WORDS = [
    "x" * 1_000_000,
    "ipykernel_" * 100_000,
    "<ipython-input-" * 100_000,
    "/tmp/ipykernel_7/" * 100_000,
    "ipykernel_7 " * 100_000,
]


def failing(word: str) -> Any:
    def f(x: Any) -> Any:
        raise ValueError(word)

    return run(Call(f, (jnp.ones(3),)))


@pytest.mark.parametrize("word", WORDS, ids=lambda word: word[:16].strip())
def test_a_long_word_costs_no_time(word: str) -> None:
    before = time.thread_time()
    source.with_cell_labels(word)
    assert time.thread_time() - before < 2


def test_a_long_message_is_cut_before_it_is_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[str] = []
    monkeypatch.setattr(stage_error, "with_cell_labels", lambda text: searched.append(text) or text)
    error = failing("x" * 20_000).error
    assert error.message == "x" * 8000 + "… [12,000 characters left out]"
    assert [len(text) for text in searched] == [8000]


def test_an_error_is_explained_once(monkeypatch: pytest.MonkeyPatch) -> None:
    explained: list[str] = []
    explain = stage_error.explain
    monkeypatch.setattr(program, "explain", lambda stage, error: explained.append(stage) or explain(stage, error))
    inspection = failing("no")
    for _ in range(3):
        panel_text([inspection.program])
        inspection.summary()
        inspection._repr_mimebundle_()
    assert explained == ["trace"]


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("at /tmp/ipykernel_7/25.py:3:1 (f)", "at In [5]:3:1 (f)"),
        ('File "/tmp/ipykernel_7/25.py", line 3', 'File "In [5]", line 3'),
        ("in /tmp/ipykernel_7/25.py, and (/tmp/ipykernel_7/25.py)", "in In [5], and (In [5])"),
        ("<ipython-input-3-ab>:3 ipykernel_7", "In [3]:3 ipykernel_7"),
        ("/tmp/ipykernel_7/26.py <ipython-input-4-ab>", "/tmp/ipykernel_7/26.py <ipython-input-4-ab>"),
    ],
)
def test_cells_have_their_labels(monkeypatch: pytest.MonkeyPatch, message: str, shown: str) -> None:
    monkeypatch.setattr(source, "cell_numbers", lambda: {"/tmp/ipykernel_7/25.py": 5, "<ipython-input-3-ab>": 3})
    assert source.with_cell_labels(message) == shown
