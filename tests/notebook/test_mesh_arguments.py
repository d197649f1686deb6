"""`--mesh`, `--in-spec` and `--out-spec` as typed in a notebook."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from IPython.core.error import UsageError
from magic_shell import Shell, fresh_shell

START = """\
%%compile -o ins -t cpu:8 {line}
import jax, jax.numpy as jnp
def product(w, x):
    return jnp.tanh(x @ w)
product(jnp.ones((16, 32)), jnp.ones((8, 16)))
"""


@pytest.fixture(scope="module")
def shell() -> Iterator[Shell]:
    with fresh_shell() as made:
        yield made


def parameters(shell: Shell, line: str) -> str:
    seen = shell.run(START.format(line=line))
    assert seen.ok, seen.text
    return str(shell["ins"].documents["hlo"].text.splitlines()[0].split("entry_computation_layout={")[1].split("->")[0])


@pytest.mark.parametrize(
    ("line", "layout"),
    [
        ("--mesh \"data=4,model=2\" --in-spec \"P(None, 'model'), P('data')\"", "(f32[16,16]{1,0}, f32[2,16]{1,0})"),
        ("--mesh data=4,model=2 --in-spec P(None,'model'), P('data')", "(f32[16,16]{1,0}, f32[2,16]{1,0})"),
        ("--mesh data=4 --in-spec \"x=P('data')\"", "(f32[16,32]{1,0}, f32[2,16]{1,0})"),
        ("--mesh data=4 --in-spec x=P('data') --in-spec w=P('data')", "(f32[4,32]{1,0}, f32[2,16]{1,0})"),
        ("--mesh data=4 --in-spec \"P('data')\"", "(f32[4,32]{1,0}, f32[2,16]{1,0})"),
        ("--mesh data=4 --in-spec \"P('data'),\"", "(f32[4,32]{1,0}, f32[8,4]{1,0})"),
        ("--mesh data=4 --in-spec \"w=jax.sharding.PartitionSpec('data')\"", "(f32[4,32]{1,0}, f32[8,4]{1,0})"),
        ("--mesh \"jax.sharding.AbstractMesh((8,), ('z',))\" --in-spec \"P('z')\"", "(f32[2,32]{1,0}, f32[1,16]{1,0})"),
    ],
)
def test_specs_lay_the_arguments_out(shell: Shell, line: str, layout: str) -> None:
    assert parameters(shell, line) == layout


def test_the_result_too_and_it_is_told(shell: Shell) -> None:
    seen = shell.run(START.format(line="--mesh data=4 --out-spec \"P('data')\""))
    assert "Mesh data=4: result P('data'); the compiler chooses all other shardings." in seen.text
    assert "->f32[2,32]" in shell["ins"].documents["hlo"].text.splitlines()[0]


def test_line_magics_and_names_of_the_cell(shell: Shell) -> None:
    shell.run(
        "from jax.sharding import AbstractMesh\nmine = AbstractMesh((2,), ('rows',))\nspecs = {'w': P('rows')}".replace(
            "P(", "jax.sharding.PartitionSpec("
        )
    )
    seen = shell.run("ins = %lower --mesh mine --in-spec **specs loss(w, x)")
    assert seen.ok, seen.text
    assert '<["rows"=2]>' in shell["ins"].documents["stablehlo"].text


MISTAKES = [
    ("--mesh data=16", ("data=16", "8")),
    ("--mesh data=four", ("'data=four'", "data=4")),
    ("--mesh nowhere", ("--mesh", "'nowhere'", "NameError")),
    ("--mesh jax", ("'data=4,model=2'", "'jax'")),
    ("--in-spec \"P('data')\"", ("--in-spec", "--mesh", "data=4")),
    ("--mesh data=4 --in-spec \"P('date')\"", ("--in-spec", "P('date',)")),
    ("--mesh data=4 --in-spec \"y=P('data')\"", ("--in-spec", "'y'")),
    ("--mesh data=3 --in-spec \"x=P('data')\"", ("--in-spec", "P('data')", "0")),
    ("--mesh data=4 --in-spec \"P('data'\"", ("--in-spec", "\"P('data'\"", "SyntaxError")),
    ("--mesh data=4 --in-spec Q()", ("--in-spec", "'Q()'", "NameError", "'Q'")),
    ("--mesh data=4 --out-spec \"y=P('data')\"", ("--out-spec", "'y'")),
    ("--mesh data=4 --out-spec \"'data'\"", ("--out-spec", "'data'", "PartitionSpec")),
]


@pytest.mark.parametrize(("line", "facts"), MISTAKES)
def test_mistakes_are_one_line_and_lose_nothing(shell: Shell, line: str, facts: tuple[str, ...]) -> None:
    seen = shell.run(START.format(line=line).replace("product", "kept"))
    assert isinstance(seen.error, UsageError)
    assert all(fact in str(seen.error) for fact in facts)
    assert "\n" not in str(seen.error)
    assert "┌" not in seen.text


NO_PYTHON = [
    ("--mesh data", ("data=4,model=2",)),
    ("--mesh data=4 --in-spec w=data,-", ("PartitionSpecs", "P('data')", "w=P(None")),
    ("--mesh data=4 --out-spec data,-", ("PartitionSpecs", "\"P('data'), P()\"")),
]


@pytest.mark.parametrize(("line", "facts"), NO_PYTHON)
def test_what_python_cannot_evaluate_is_told_with_what_to_write(
    shell: Shell, line: str, facts: tuple[str, ...]
) -> None:
    seen = shell.run(START.format(line=line))
    assert isinstance(seen.error, UsageError)
    assert all(fact in str(seen.error) for fact in facts)
    assert "\n" not in str(seen.error)


def test_help_and_completion_know_them(shell: Shell) -> None:
    for magic in ("trace", "lower", "compile"):
        doc = shell.ip.find_line_magic(magic).__doc__
        assert "data=4,model=2" in doc
        assert "--in-spec" in doc
        assert "--out-spec" in doc
    completions = [c.text for c in shell.ip.Completer.completions("%compile --me", len("%compile --me"))]
    assert "--mesh" in completions
