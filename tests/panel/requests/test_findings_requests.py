"""The findings tab: what the panel is told of a finding, and what trying its change gives."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest

import jaxstage_ext
from jaxstage_ext.panel.jobs import answered_at_once
from jaxstage_ext.panel.params import BadRequest
from jaxstage_ext.panel.requests import dispatch
from jaxstage_ext.program import tabs

WIDE = (512, 512)


def descended(params: Any, moments: Any, x: Any) -> Any:
    slopes = jax.grad(lambda params: jnp.sum(jnp.tanh(x @ params["w"])))(params)
    moments = jax.tree.map(lambda moment, slope: 0.9 * moment + slope, moments, slopes)
    return jax.tree.map(lambda param, moment: param - moment, params, moments), moments


@pytest.fixture(scope="module")
def program() -> Any:
    weights = {"w": jnp.ones(WIDE)}
    return jaxstage_ext.inspect(descended, weights, weights, jnp.ones((8, 512))).program


def ask(program: Any, method: str, **params: Any) -> dict[str, Any]:
    return answered_at_once(dispatch.methods()[method], [program], params)[0]


def test_a_finding_says_what_is_so_what_to_write_and_how_sure_it_is(program: Any) -> None:
    assert "findings" in tabs.tabs(program)
    told = ask(program, "findings", all=False)
    one = next(one for one in told["findings"] if one["kind"] == "missing donation")
    held_twice = 2 * 4 * 512 * 512  # two trees of one f32[512,512], which the results are the new values of
    assert "2.1 MB" in one["text"] and held_twice == 2_097_152
    assert 0 < one["share"] < 1 and one["try"] and one["trial"] is None
    assert "donate_argnames=('params', 'moments')" in one["change"]["code"]
    assert one["kind"] in told["looked"] and not set(told["looked"]) & set(told["waiting"])


def test_what_trying_gave_stands_with_the_finding_from_then_on(program: Any) -> None:
    (one,) = (one for one in ask(program, "findings")["findings"] if one["kind"] == "missing donation")
    tried = ask(program, "try", finding=one["key"])
    (after,) = (one for one in ask(program, "findings")["findings"] if one["kind"] == "missing donation")
    assert after["key"] == one["key"], "a trial does not rename it"
    assert {name: after["trial"][name] for name in tried} == tried
    figures = after["trial"]["table"]["strings"]
    assert "memory needed" in figures["figure"], "by XLA's own figures of both programs"


def test_what_is_not_found_is_not_tried(program: Any) -> None:
    with pytest.raises(BadRequest, match="no longer found"):
        ask(program, "try", finding="SLOW_PASS\n")
    with pytest.raises(BadRequest, match="must be text"):
        ask(program, "try", finding=3)
