"""What code reads is the same on every Python, whatever instructions it became; the expectations are the text's."""

from __future__ import annotations

import sys
from types import CodeType

import pytest

from jaxstage_ext.core.staleness.code_reads import reads


def body(text: str) -> CodeType:
    """The code of the function `fn` that a text defines; nothing of it runs."""
    made = compile(text, "<cell>", "exec", dont_inherit=True)
    return next(const for const in made.co_consts if isinstance(const, CodeType) and const.co_name == "fn")


@pytest.mark.parametrize(
    ("expression", "read"),
    [
        ("sizes[0]", "sizes[0]"),
        ("sizes[300]", "sizes[300]"),
        ("sizes[-1]", "sizes[-1]"),
        ("sizes[True]", "sizes[True]"),
        ("table['a'][0].rate", "table['a'][0].rate"),
        ("sizes[1:3]", "sizes"),
        ("sizes[i]", "sizes"),
        ("sizes + 1", "sizes"),
    ],
)
def test_a_constant_key_is_a_step_and_a_slice_is_none(expression: str, read: str) -> None:
    names = [str(one) for one in reads(body(f"def fn(): return {expression}"))]
    assert names == ([read, "i"] if "[i]" in expression else [read])


def test_parts_of_an_argument_and_of_a_closure() -> None:
    assert [str(one) for one in reads(body("def fn(x): return x[2].b"))] == ["x[2].b"]
    inner = body("def fn(x):\n    def inner(): return x.n[1]\n    return inner")
    assert {str(one) for one in reads(inner)} >= {"x.n[1]"}


def test_annotations_are_read_where_a_call_computes_them() -> None:
    """From Python 3.14 on those of an inner function are code that runs when somebody asks for them (PEP 649)."""
    text = "def fn(x):\n    def inner(y: Shape) -> Kind: return y * k\n    return inner(x)"
    computed = {"Shape", "Kind"} if sys.version_info < (3, 14) else set()
    assert {str(one) for one in reads(body(text))} - {"x", "inner"} == {"k"} | computed
