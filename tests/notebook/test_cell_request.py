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


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("%%compile --outptu a\n1", "unknown option --outptu; did you mean --output?"),
        ("%%compile --static\n1", "unknown option --static; did you mean --static-argnums or --static-argnames?"),
        ("%%compile -o\n1", "-o needs a value: -o NAME"),
        ("%%compile -o 3x\n1", "-o/--output: '3x' is not a valid Python name"),
        ("%%compile --dim b\n1", "--dim: 'b' is not an axis size such as b=8"),
        ("%%compile --static-argnums a\n1", "--static-argnums: 'a' is not a list of positions such as 0,2"),
        ("%%compile --args 'f32[3]\n1", "'f32[3] has no closing '"),
        ("%%trace --run\nloss(w, x)", "--run needs an executable, and %trace does not make one; use %compile --run"),
        ("%%compile y = loss(w, x)\n1", "'y = loss(w, x)' is not a call; name a call such as loss(w, x)"),
        ("%compile", "name a call to compile, for example %compile loss(w, x)"),
        ("%dispatch", "name a call to compile, for example %dispatch loss(w, x)"),
        ("%dispatch 3", "3 is an int, not a function, so it cannot be staged; write a call, such as %dispatch loss"),
        (
            "f = lambda x: x\n%dispatch f",
            "f: parameter x has no annotation; write the call with its arguments, such as %dispatch f(...)",
        ),
        ("%%compile\nprint(3)", "print is a Python builtin, not a JAX function, so it cannot be staged; end the cell"),
        ("%%compile\ndict(a=3)", "dict is a class; stage a function or a method, so it cannot be staged"),
        ("%%compile\nw(3)", "w is an ArrayImpl, not a function, so it cannot be staged"),
        ("%compile w", "w is an ArrayImpl, not a function, so it cannot be staged"),
        ("%%compile\nasync def co(): pass\nco()", "co is a coroutine function, and JAX traces only ordinary functions"),
        ("%%compile\nasync def co(): pass", "co is a coroutine function, and JAX traces only ordinary functions"),
        ("%%compile\nn = 3", "nothing to compile in this cell; end the cell with the call to compile"),
        ("%%compile\ndef g(y): return y", "g: parameter y has no annotation; pass the arguments by a call on the"),
        ("%%compile\ndef g(y: jax.Array): return y", "g: parameter y is annotated"),
        ("%%compile\ndef g(y: Float[Array, 'b 3']): return y", "an axis 'b' without a size; pass --dim b=8"),
        ("%%compile --dim c=3\nloss(w, x)", "--dim c=3: no axis is named 'c'"),
        ('%%compile --args "f32[3]"\nloss(w, x)', "--args and loss(...) both give arguments; drop one of them"),
        ('%compile --args "f32[3], f32[3], f32[3]" loss', "--args gives 3 arguments, but loss(w, x) takes fewer"),
        ('%compile --args "f32[3]" loss', "loss: parameter x has no annotation"),
        ('%compile --run --args "f32[2,4], w=f32[4,3]" loss', "but the arguments of loss are shapes; call"),
        ("%compile loss(w=w, **{'w': w})", "loss() got multiple values for keyword argument 'w'"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_in_one_line(shell: Shell, cell: str, said: str) -> None:
    seen = shell.run(cell)
    assert said in one_line(seen.text)
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
