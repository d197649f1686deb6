"""An error that we raise on purpose stands below the user's line, without our frames; any other keeps them."""

from __future__ import annotations

import traceback
from collections.abc import Iterator

import pytest
from magic_shell import Shell, fresh_shell

import jaxstage_ext
from jaxstage_ext.report.deliberate_error import frames_above_ours


@pytest.fixture(scope="module")
def shell() -> Iterator[Shell]:
    with fresh_shell() as made:
        assert made.run("import jaxstage_ext\ntraced = jaxstage_ext.inspect(loss, w, x, stage='trace')").ok
        yield made


@pytest.mark.parametrize(
    ("line", "last"),
    [
        ("traced.memory", "Unavailable: loss was not lowered here, so its memory is unknown; inspect it with stage="),
        ("traced.timeline", "Unavailable: loss was not profiled; run %profile loss("),
        ("jaxstage_ext.inspect(loss, w, x, target='v9')", "TargetError: unknown target 'v9'"),
        ("jaxstage_ext.inspect(loss, w, x, mesh='data=')", "MeshError: "),
        ("jaxstage_ext.inspect(loss, w, x, compiler_options={'xla_nope': 1})", "OptionError: "),
    ],
)
def test_the_users_line_and_the_reason_are_all_there_is(shell: Shell, line: str, last: str) -> None:
    seen = shell.run(f"before = 1\n{line}")
    assert not seen.ok
    assert f"----> 2 {line}" in seen.text
    assert last in seen.text
    assert "jaxstage_ext/" not in seen.text


def test_a_function_of_the_users_own_stays_in_the_traceback(shell: Shell) -> None:
    seen = shell.run("def memory_of(ins):\n    return ins.memory\n\nmemory_of(traced)")
    assert "in memory_of(ins)" in seen.text
    assert "jaxstage_ext/" not in seen.text


def test_a_block_that_compiled_more_than_it_may_shows_the_block(shell: Shell) -> None:
    seen = shell.run("with jaxstage_ext.expect_compiles():\n    jax.jit(lambda x: x * 3)(x)")
    assert "UnexpectedCompile: 1 compile, expected at most 0" in seen.text
    assert "jaxstage_ext/" not in seen.text
    assert "contextlib" not in seen.text


def test_an_error_of_another_kind_keeps_every_frame(shell: Shell) -> None:
    seen = shell.run("jaxstage_ext.load(object())")
    assert not seen.ok
    assert "jaxstage_ext/" in seen.text


def test_outside_a_notebook_python_prints_every_frame() -> None:
    with pytest.raises(ValueError, match="unknown target") as caught:
        jaxstage_ext.inspect(abs, 1.0, target="v9")
    printed = "".join(traceback.format_exception(caught.value))
    assert "jaxstage_ext/" in printed
    assert "jaxstage_ext/" not in "".join(traceback.format_tb(frames_above_ours(caught.value.__traceback__)))


def test_a_lambda_is_not_given_as_a_call_to_type(shell: Shell) -> None:
    seen = shell.run("jaxstage_ext.inspect(lambda x: x + 1, x, stage='trace').timeline")
    assert "Unavailable: <lambda> was not profiled; run" in seen.text and "%profile <lambda>" not in seen.text
