"""A search of layouts that the user stops keeps what it found; a page that is loaded anew finds the one under way."""

from __future__ import annotations

import threading
from typing import Any

import jax.numpy as jnp
import pytest
from made_searches import stopped_search
from panel_requests import ask

import jaxstage_ext
from jaxstage_ext.panel.requests import dispatch, sharding_search_requests


def program() -> Any:
    return jaxstage_ext.inspect(jnp.tanh, jnp.ones(8), stage="lower").program


def test_a_search_that_is_stopped_keeps_what_it_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharding_search_requests, "search_program", stopped_search)
    shown, asked = program(), {"call": 0, "mesh": "", "budget": 60}
    said = None
    for _ in range(600):
        said = dispatch.answer([shown], "sharding_search_run", asked)[0]["pending"]["progress"]
        if said:
            break
        threading.Event().wait(0.01)
    assert said is not None and "best so far" in said
    assert ask(shown, "sharding_search", most=9)[0]["running"] == {"mesh": "", "budget": 60}
    dispatch.answer([shown], "cancel", {**asked, "of": "sharding_search_run"})
    result, _ = ask(shown, "sharding_search", most=9)
    assert result["searched"] and result["tried"] == 1 and result["running"] is None
