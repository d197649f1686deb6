"""The request for the source of a library, which has a pane beside the user's."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import optax
import pytest

from jaxstage_ext import inspect
from jaxstage_ext.api.inspection import Inspection
from jaxstage_ext.panel.params import BadRequest
from jaxstage_ext.panel.requests import dispatch

pytestmark = pytest.mark.usefixtures("patient_requests")


def test_the_source_of_a_library_is_a_document() -> None:
    program = inspect(lambda x: jnp.sum(optax.huber_loss(x)), jnp.ones(8), stage="trace").program
    described, _ = dispatch.answer([program], "library", {"call": 0, "library": "optax"})
    assert (described["kind"], described["title"]) == ("python:optax", "source of optax")
    whole, buffers = dispatch.answer([program], "document", {"call": 0, "doc": "python:optax"})
    assert whole["lines"] == described["lines"] > 10
    assert len(buffers) == 1


@pytest.mark.parametrize("library", ["flax", "<b>"])
def test_a_library_without_frames_is_refused(library: str) -> None:
    program = inspect(jax.jit(lambda x: jnp.sin(x)), jnp.ones(8), stage="trace").program
    with pytest.raises(BadRequest, match="no frame of this call is in"):
        dispatch.answer([program], "library", {"call": 0, "library": library})


def test_the_whole_files_are_a_document_that_is_not_saved() -> None:
    inspection = inspect(jax.jit(lambda x: jnp.sin(x)), jnp.ones(8), stage="trace")
    described, _ = dispatch.answer([inspection.program], "library", {"call": 0, "library": ""})
    assert (described["kind"], described["title"]) == ("python:", "whole source files")
    whole, _ = dispatch.answer([inspection.program], "document", {"call": 0, "doc": "python:"})
    assert whole["lines"] == len(Path(__file__).read_text().splitlines()) + 1
    assert list(Inspection.from_json(inspection.to_json()).documents) == ["python", "jaxpr"]
