"""A user's mistakes, each told in one line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest
from magic_shell import Shell, fresh_shell


@pytest.fixture(scope="module")
def shell() -> Iterator[Shell]:
    with fresh_shell() as made:
        yield made


def one_line(text: str) -> str:
    """The text of a one-line user error."""
    assert text.startswith("UsageError: ")
    assert text.count("\n") == 1
    return text.removeprefix("UsageError: ").rstrip("\n")


MISTAKES = [
    ("%%compile --outptu a\n1", ("--outptu", "--output")),
    ("%%compile --static\n1", ("--static", "--static-argnums", "--static-argnames")),
    ("%%compile -o\n1", ("-o", "NAME")),
    ("%%compile -o 3x\n1", ("-o", "--output", "'3x'")),
    ("%%compile --dim b\n1", ("--dim", "'b'", "b=8")),
    ("%%compile --static-argnums a\n1", ("--static-argnums", "'a'", "0,2")),
    ("%%compile --args 'f32[3]\n1", ("'f32[3]",)),
    ("%%trace --run\nloss(w, x)", ("--run", "%trace", "%compile")),
    ("%%compile y = loss(w, x)\n1", ("'y = loss(w, x)'",)),
    ("%compile", ("%compile", "loss(w")),
    ("%dispatch", ("%dispatch", "loss(w")),
    ("%dispatch 3", ("3", "%dispatch")),
    ("f = lambda x: x\n%dispatch f", ("%dispatch", "f(...)")),
    ("%%compile\nprint(3)", ("JAX",)),
    ("%%compile\ndict(a=3)", ()),
    ("%%compile\nw(3)", ("ArrayImpl",)),
    ("%compile w", ("ArrayImpl",)),
    ("%%compile\nasync def co(): pass\nco()", ("JAX",)),
    ("%%compile\nasync def co(): pass", ("JAX",)),
    ("%%compile\nn = 3", ()),
    ("%%compile\ndef g(y): return y", ()),
    ("%%compile\ndef g(y: jax.Array): return y", ()),
    ("%%compile\ndef g(y: Float[Array, 'b 3']): return y", ("'b'", "--dim", "b=8")),
    ("%%compile --dim c=3\nloss(w, x)", ("--dim", "c=3", "'c'")),
    ('%%compile --args "f32[3]"\nloss(w, x)', ("--args", "loss(...)")),
    ('%compile --args "f32[3], f32[3], f32[3]" loss', ("--args", "3", "loss(w")),
    ('%compile --args "f32[3]" loss', ()),
    ('%compile --run --args "f32[2,4], w=f32[4,3]" loss', ()),
    ("%compile loss(w=w, **{'w': w})", ("loss()", "'w'")),
]


@pytest.mark.parametrize(("cell", "facts"), MISTAKES)
def test_a_mistake_is_told_in_one_line(shell: Shell, cell: str, facts: tuple[str, ...]) -> None:
    seen = shell.run(cell)
    assert all(fact in one_line(seen.text) for fact in facts)
    assert not seen.ok


@pytest.mark.parametrize(
    ("cell", "quoted", "under"),
    [
        ("%%compile loss(w, x\n1", "loss(w, x", "("),
        ('%compile --args "f32[8], w=f33[8]" loss', "f32[8], w=f33[8]", "f33"),
    ],
)
def test_a_mistake_inside_a_text_is_pointed_at(shell: Shell, cell: str, quoted: str, under: str) -> None:
    lines = shell.run(cell).text.rstrip("\n").split("\n")
    assert lines[-2].strip() == quoted
    assert lines[-2][lines[-1].index("^") :].startswith(under)


def test_bad_options_run_nothing_of_the_cell(shell: Shell) -> None:
    shell.run("%%compile --nope\nset_by_cell = 1")
    assert "set_by_cell" not in shell


def test_without_jax_one_line_says_so(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jax", None)
    assert "JAX cannot be imported in this kernel" in one_line(shell.run("%%compile\nloss(w, x)").text)


def test_without_a_device_one_line_says_so(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> Any:
        raise RuntimeError("Unable to initialize backend 'tpu': no TPU\nmore")

    monkeypatch.setattr("jax.local_devices", none)
    said = one_line(shell.run("%%compile\nloss(w, x)").text)
    assert said == "JAX finds no device: Unable to initialize backend 'tpu': no TPU"


def test_a_cell_of_coroutine_functions_alone_says_so_in_one_line(shell: Shell) -> None:
    told = one_line(shell.run("%%compile\nasync def inner(): return 1").text)
    assert told.count("inner") == 1 and "coroutine" in told and "(...)" not in told
