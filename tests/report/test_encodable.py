"""A lone surrogate in a name, a message or an argument costs its own text, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import jax.numpy as jnp
import pytest

from jaxstage_ext import inspect
from jaxstage_ext.panel.panel_state import state_of
from jaxstage_ext.panel.showing.mimebundle import static_bundle
from jaxstage_ext.report.text.bounded_repr import bounded_repr, bounded_str, function_name
from jaxstage_ext.report.text.encodable import encodable, encodable_json

LONE = "a\ud800b"
SEEN = "a\\ud800b"


def sent(data: Any) -> str:
    """The data as ipykernel sends it."""
    return json.dumps(data, ensure_ascii=False, allow_nan=False).encode("utf-8", "surrogateescape").decode()


def test_texts() -> None:
    assert encodable(LONE) == SEEN
    assert encodable("é\u202e𝄞") == "é\u202e𝄞"
    assert encodable_json({LONE: [LONE, 1, {"a": None}]}) == {SEEN: [SEEN, 1, {"a": None}]}
    with pytest.raises(UnicodeEncodeError):
        sent(LONE)


def test_texts_of_the_users() -> None:
    def function() -> None: ...

    function.__name__ = LONE
    assert (bounded_str(ValueError(LONE)), function_name(function)) == (SEEN, SEEN)
    for text in (bounded_repr(function), bounded_repr(LONE), bounded_repr({LONE: 1})):
        assert sent(text)
    assert bounded_str(ValueError("\ud800" * 100), most=8) == "\\ud800\\…"


def test_a_panel_of_a_failure_can_be_sent() -> None:
    def fails(x: Any) -> Any:
        raise ValueError(LONE)

    with pytest.raises(ValueError, match=LONE[0]) as raised:
        inspect(fails, jnp.ones(4))
    program = raised.value.inspection.program  # type: ignore[attr-defined]
    assert json.loads(sent(state_of([program], busy=False)))["calls"][0]["error"]["message"] == SEEN
    for form in static_bundle([program]).values():
        assert SEEN in json.loads(sent(form))
