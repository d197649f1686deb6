"""Real functions through JAX: which line came from which, in both directions."""

from __future__ import annotations

import hashlib
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxstage_ext import inspect

X = jnp.ones((8, 128))


W = jnp.ones((128, 512))


def loss(w, x):
    return jnp.sum(jax.nn.softmax(jnp.tanh(x @ w)))


LINE = loss.__code__.co_firstlineno + 1


def test_links_go_both_ways() -> None:
    inspection = inspect(loss, W, X)
    for kind in ("jaxpr", "stablehlo", "hlo"):
        document = inspection.documents[kind]
        lines = document.lines_from(__file__, LINE)
        assert lines
        for line in lines:
            span = document.source_of(line)
            assert span is not None
            assert (span.file, span.line, span.function) == (__file__, LINE, "loss")
    source = inspection.documents["python"]
    [line] = source.lines_from(__file__, LINE)
    assert source.lines[line - 1].strip().startswith("return jnp.sum(")


def test_hlo_text_is_what_xla_prints_without_metadata() -> None:
    inspection = inspect(loss, W, X)
    ours = inspection.documents["hlo"].text
    theirs = re.sub(r", metadata=\{[^}]*\}", "", inspection.compiled.as_text())
    assert instructions(ours) == instructions(theirs)


def instructions(text: str) -> list[str]:
    """Lines of instructions; XLA prints the members of a backend_config in any order."""
    return [line.split(", backend_config=")[0] for line in text.splitlines() if " = " in line]


def test_a_helpers_line_and_the_line_that_calls_it() -> None:
    def helper(x):
        return jnp.sin(x)

    def outer(x):
        return helper(x)

    document = inspect(outer, X).documents["jaxpr"]
    inner_line, outer_line = helper.__code__.co_firstlineno + 1, outer.__code__.co_firstlineno + 1
    assert document.lines_from(__file__, inner_line) == document.lines_from(__file__, outer_line) != []
    span = document.source_of(document.lines_from(__file__, inner_line)[0])
    assert span is not None
    assert span.line == inner_line


def test_gradient_operations_point_at_the_forward_line_and_say_so() -> None:
    document = inspect(jax.grad(loss), W, X).documents["hlo"]
    spans = [document.source_of(line) for line in document.lines_from(__file__, LINE)]
    assert {span.gradient for span in spans if span} == {True, False}


def test_a_multi_line_expression_is_found_from_each_of_its_lines() -> None:
    def spread(x):
        return jnp.dot(
            x,
            x.T,
        )

    first = spread.__code__.co_firstlineno + 1
    document = inspect(spread, X).documents["hlo"]
    found = [document.lines_from(__file__, line) for line in (first, first + 1, first + 3)]
    assert found[0] == found[1] == found[2] != []
    span = document.source_of(found[0][0])
    assert span is not None
    assert (span.line, span.end) == (first, (first + 3, 10))


def test_named_scopes_are_kept() -> None:
    def scoped(x):
        with jax.named_scope("my_layer"):
            return jnp.sin(x)

    for kind in ("jaxpr", "stablehlo", "hlo"):
        assert any("my_layer" in scope for scope in inspect(scoped, X).documents[kind].scopes), kind


def test_megabyte_constants_are_told_by_size_and_digest() -> None:
    big = jnp.arange(300_000, dtype=jnp.float32)
    inspection = inspect(lambda x: x + big * 2, big)
    digest = hashlib.sha256(np.asarray(big).tobytes()).hexdigest()[:16]
    assert f'dense<"1.2 MB, sha256 {digest}"> : tensor<300000xf32>' in inspection.documents["stablehlo"].text
    assert "f32[300000]{0} constant({...})" in inspection.documents["hlo"].text
    assert max(len(inspection.documents[kind].text) for kind in ("stablehlo", "hlo")) < 3000


def test_lines_outside_the_document_are_an_error() -> None:
    document = inspect(loss, W, X, stage="trace").documents["jaxpr"]
    for line in (0, len(document) + 1):
        with pytest.raises(IndexError, match="jaxpr document that has"):
            document.source_of(line)


def test_hostile_names_stay_text() -> None:
    def evil(x):
        with jax.named_scope('<script>alert("1")</script> \u2028 🦊'):
            return jnp.sin(x)

    evil.__name__ = "<script>"
    inspection = inspect(evil, X)
    assert inspection.documents["hlo"].coverage.share == 1
    assert any("<script>" in scope for scope in inspection.documents["hlo"].scopes)
