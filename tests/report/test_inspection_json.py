"""An Inspection as JSON, there and back."""

from __future__ import annotations

import json
from dataclasses import replace

import jax
import jax.numpy as jnp
import pytest

from jaxstage_ext import Inspection, inspect
from jaxstage_ext.api.inspect import run
from jaxstage_ext.core.call import Call

X = jnp.ones((8, 128))


W = jnp.ones((128, 512))


def loss(w, x):
    return jnp.sum(jax.nn.softmax(jnp.tanh(x @ w)))


def test_json_there_and_back() -> None:
    inspection = inspect(jax.grad(loss), W, X)
    text = inspection.to_json()
    again = Inspection.from_json(text)
    assert again.summary() == inspection.summary() | {"views": ["code"]}
    assert again.to_json() == text
    for kind, document in inspection.documents.items():
        assert again.documents[kind].coverage == document.coverage
        spans = [document.source_of(n + 1) for n in range(len(document))]
        assert [again.documents[kind].source_of(n + 1) for n in range(len(document))] == [
            span and replace(span, file=span.label) for span in spans
        ]
    assert again.seconds == inspection.seconds
    assert again.compiled is None


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"jaxstage": 99}', '{"jaxstage": 1, "summary": {}}', "null"])
def test_json_that_is_not_ours_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(ValueError, match=r"inspection|format") as caught:
        Inspection.from_json(text)
    assert "\n" not in str(caught.value)


def test_json_of_another_format_says_which() -> None:
    text = inspect(loss, W, X, stage="trace").to_json().replace('"jaxstage": 4', '"jaxstage": 5', 1)
    with pytest.raises(ValueError, match="has format 5, this JAXStage reads 4"):
        Inspection.from_json(text)


def test_a_saved_error_comes_back() -> None:
    inspection = run(Call(lambda x: x + jnp.ones(7), (X,)))
    again = Inspection.from_json(inspection.to_json())
    assert again.error is not None
    assert inspection.error is not None
    assert again.error.message == inspection.error.message
    assert json.loads(inspection.to_json())["summary"]["error"]["type"] == again.error.type
