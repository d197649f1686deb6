"""Every character of real IR has a place in its lexer."""

from __future__ import annotations

import fakes
import jax
import jax.numpy as jnp
import pytest
from pygments import lex
from pygments.token import Error, Keyword, Name, Token

from jaxstage_ext.ir.lexers import HloLexer, JaxprLexer, PtxLexer, SassLexer, StableHloLexer


def loop(w, x):
    def body(carry, row):
        return jax.lax.cond(carry.sum() > 0, jnp.tanh, jnp.sin, carry + row), row * 2

    carry, rows = jax.lax.scan(body, jnp.zeros(4), x)
    return jax.lax.while_loop(lambda c: c.sum() < 10, lambda c: c + 1, carry) @ w, rows.astype(jnp.bfloat16)


def gradient(w, x):
    return jax.grad(lambda w: jax.nn.softmax(jnp.sort(x @ w)).std())(w)


def drawn(w, x):
    return jax.random.normal(jax.random.key(0), (4,)) + jnp.fft.fft(x).real @ w


@pytest.mark.parametrize("fn", [loop, gradient, drawn])
def test_real_dumps_have_no_errors_and_lose_nothing(fn):
    shapes = jax.ShapeDtypeStruct((4, 4), "float32"), jax.ShapeDtypeStruct((4, 4), "float32")
    lowered = jax.jit(fn).lower(*shapes)
    compiled = lowered.compile()
    for lexer, text in (
        (JaxprLexer, str(jax.make_jaxpr(fn)(*shapes))),
        (StableHloLexer, lowered.as_text()),
        (StableHloLexer, lowered.as_text(debug_info=True)),
        (HloLexer, compiled.as_text()),
        (HloLexer, lowered.as_text("hlo")),
    ):
        tokens = list(lex(text, lexer(stripnl=False, ensurenl=False)))
        assert "".join(value for _, value in tokens) == text
        assert Error not in {token for token, _ in tokens}
        functions = {value for token, value in tokens if token in Name.Function}
        assert len(functions) > 3, lexer
        assert {value for token, value in tokens if token in Keyword.Type}


@pytest.mark.parametrize("lexer", [JaxprLexer, StableHloLexer, HloLexer, PtxLexer, SassLexer])
@pytest.mark.parametrize(
    "text", ["", "\n", "😀 <script> \u2028", '"never closed', "{" * 5000, "tensor<" * 3000, "[" * 5000]
)
def test_anything_else_gets_through_too(lexer, text):
    assert "".join(value for _, value in lex(text, lexer(stripnl=False, ensurenl=False))) == text


def kinds(lexer, text):
    return {value: str(token).removeprefix("Token.") for token, value in lex(text, lexer()) if token is not Token}


def test_parts_of_a_line_have_their_kinds():
    hlo = kinds(HloLexer, fakes.HLO[10])
    assert hlo["ROOT"] == "Keyword"
    assert hlo["reduce"] == "Name.Function"
    assert hlo["%tanh.1"] == "Name.Variable"
    assert hlo["f32[]"] == "Keyword.Type"
    assert hlo["to_apply"] == "Name.Attribute"
    jaxpr = kinds(JaxprLexer, fakes.JAXPR[1])
    assert jaxpr["c"] == "Name.Variable"
    assert jaxpr["f32[8,512]"] == "Keyword.Type"
    assert jaxpr["dot_general"] == "Name.Function"
    mlir = kinds(StableHloLexer, '%0:2 = stablehlo.custom_call @f(%arg0) {a = "x"} : tensor<8x!quant.uniform<i8:f32>>')
    assert mlir["%0:2"] == "Name.Variable"
    assert mlir["stablehlo.custom_call"] == "Name.Function"
    assert mlir["tensor<8x!quant.uniform<i8:f32>>"] == "Keyword.Type"
    assert mlir['"x"'] == "Literal.String"
    ptx = kinds(
        PtxLexer, "$L__BB0_2:\n    @%p1 ld.global.v4.b32 {%r1, %r2}, [%rd4+16]; // a load\n    .reg .b32 %r<3>;"
    )
    assert ptx["$L__BB0_2"] == "Name.Label"
    assert ptx["ld.global.v4.b32"] == "Name.Function"
    assert ptx["%rd4"] == ptx["@%p1"] == "Name.Variable"
    assert ptx[".reg"] == "Keyword"
    assert ptx[".b32"] == "Keyword.Type"
    sass = kinds(SassLexer, ".L_x_1:\n  /*0120*/ @!P0   LDG.E.128 R4, desc[UR6][R22.64]    // PTX 44")
    assert sass[".L_x_1"] == "Name.Label"
    assert sass["LDG.E.128"] == "Name.Function"
    assert sass["@!P0"] == sass["R4"] == sass["UR6"] == "Name.Variable"
    assert sass["// PTX 44"] == "Comment"
