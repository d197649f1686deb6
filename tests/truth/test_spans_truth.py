"""Which expression an operation lights: from where to where, on every target."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from tests.truth.expectation import Expectation, UserProgram, holds, rows
from tests.truth.source_asks import equations_a_line, expression, line_text

X = jnp.ones((8, 128))


def scaled_exponential() -> UserProgram:
    def scaled(x, y):
        return jnp.exp(x) * y

    return UserProgram(scaled, (X, X))


def gated() -> UserProgram:
    def gate(x, y):
        hidden = jnp.tanh(x * y + x)
        return jnp.where(
            hidden > 0,
            jnp.sin(hidden) * y + jnp.cos(y),
            jax.lax.rsqrt(
                hidden,
            ),
        )

    return UserProgram(gate, (X, X))


def product_of_three() -> UserProgram:
    def product(a, b, c):
        return a * b * c

    return UserProgram(product, (X, X, X))


def attention() -> UserProgram:
    def attend(q, k, v):
        scores = jnp.einsum(
            "qd,kd->qk",
            q,
            k,
        )
        weights = jnp.exp(scores - jnp.max(scores)) / jnp.sum(jnp.exp(scores))
        return weights @ v

    return UserProgram(attend, (X, X, X))


def one_liner() -> UserProgram:
    return UserProgram(lambda a: jnp.sin(a), (X,))


def short_inner() -> UserProgram:
    half = jax.jit(lambda a: a * 0.5)

    def outer(a):
        total, _ = jax.lax.scan(lambda c, x: (c + x, None), a[0], a)
        return half(total)

    return UserProgram(outer, (X,))


def added_products() -> UserProgram:
    def added(a, b):
        return jnp.sin(a) * b - jnp.cos(a) / b

    return UserProgram(added, (X, X))


LEFT = "Python's own positions: a binary operation begins where its left operand does and ends where its right one does"
CALL = "Python's own positions of the call"


@rows(
    Expectation(scaled_exponential, "local", "span mul", expression("hlo", "multiply("), "<jnp.exp(x) * y>", LEFT),
    Expectation(scaled_exponential, "v5e:2x2", "span mul", expression("hlo", "multiply("), "<jnp.exp(x) * y>", LEFT),
    Expectation(scaled_exponential, "h100", "span mul", expression("hlo", "multiply("), "<jnp.exp(x) * y>", LEFT),
    Expectation(scaled_exponential, "local", "span exp", expression("hlo", "exponential("), "<jnp.exp(x)>", CALL),
    Expectation(scaled_exponential, "v5e:2x2", "span exp", expression("hlo", "exponential("), "<jnp.exp(x)>", CALL),
    Expectation(scaled_exponential, "h100", "span exp", expression("hlo", "exponential("), "<jnp.exp(x)>", CALL),
    Expectation(scaled_exponential, "local", "span jaxpr", expression("jaxpr", "= mul "), "<jnp.exp(x) * y>", LEFT),
    Expectation(scaled_exponential, "local", "span op", expression("stablehlo", "multiply"), "<jnp.exp(x) * y>", LEFT),
    Expectation(gated, "local", "span add", expression("hlo", " add("), "<x * y + x>", LEFT),
    Expectation(gated, "local", "span tanh", expression("hlo", "tanh("), "<jnp.tanh(x * y + x)>", CALL),
    Expectation(gated, "local", "span sin", expression("hlo", "sine("), "<jnp.sin(hidden)>", CALL),
    Expectation(gated, "h100", "span cos", expression("hlo", "cosine("), "<jnp.cos(y)>", CALL),
    Expectation(gated, "local", "span of lines", expression("hlo", "rsqrt("), "<jax.lax.rsqrt( hidden, )>", CALL),
    Expectation(
        gated,
        "local",
        "span select",
        expression("hlo", "select("),
        "<jnp.where( hidden > 0, jnp.sin(hidden) * y + jnp.cos(y), jax.lax.rsqrt( hidden, ), )>",
        CALL,
    ),
    Expectation(
        attention,
        "local",
        "span dot",
        expression("stablehlo", "dot_general"),
        '<jnp.einsum( "qd,kd->qk", q, k, )>',
        CALL,
    ),
    Expectation(
        attention,
        "local",
        "span divide",
        expression("hlo", "divide("),
        "<jnp.exp(scores - jnp.max(scores)) / jnp.sum(jnp.exp(scores))>",
        LEFT,
    ),
    Expectation(attention, "h100", "span subtract", expression("hlo", "subtract("), "<scores - jnp.max(scores)>", LEFT),
    Expectation(
        added_products,
        "local",
        "span subtract",
        expression("hlo", "subtract("),
        "<jnp.sin(a) * b - jnp.cos(a) / b>",
        LEFT,
    ),
    Expectation(added_products, "v5e:2x2", "span product", expression("hlo", "multiply("), "<jnp.sin(a) * b>", LEFT),
    Expectation(added_products, "local", "span quotient", expression("hlo", "divide("), "<jnp.cos(a) / b>", LEFT),
    Expectation(one_liner, "local", "a line an equation", equations_a_line, True, "as many equations as JAX counts"),
    Expectation(
        one_liner,
        "local",
        "equation",
        line_text("jaxpr", "= sin a"),
        "return UserProgram(lambda a: jnp.sin(a), (X,))",
        "the line of the lambda",
    ),
    Expectation(short_inner, "local", "a line an equation", equations_a_line, True, "as many equations as JAX counts"),
    Expectation(
        short_inner,
        "local",
        "equation in jit",
        line_text("jaxpr", " 0.5:f32[]"),
        "direct: half = jax.jit(lambda a: a * 0.5)",
        "the body of the lambda",
    ),
    Expectation(
        short_inner,
        "local",
        "equation in scan",
        line_text("jaxpr", "= add "),
        "direct: total, _ = jax.lax.scan(lambda c, x: (c + x, None), a[0], a)",
        "the body of the lambda",
    ),
)
def test_an_operation_lights_its_own_expression(expectation: Expectation) -> None:
    holds(expectation)


def test_each_product_of_a_chain_lights_its_own_part() -> None:
    from jaxstage_ext import inspect
    from tests.truth.source_asks import code

    function, arguments, *_ = product_of_three()
    document = inspect(function, *arguments).documents["hlo"]
    spans = [document.source_of(line) for line, text in enumerate(document.lines, 1) if " multiply(" in text]
    assert [code(span) for span in spans if span] == ["a * b", "a * b * c"]
