"""Compile options on a magic's line, their completion, their table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import pytest
from magic_shell import Shell, fresh_shell

from jaxstage_ext.core.options import xla_flags
from jaxstage_ext.core.options.xla_flags import Flags


def f(a: Any, b: Any) -> Any:
    return jnp.sum(jnp.tanh(a @ b) * 2 + a)


@pytest.fixture(scope="module")
def shell() -> Iterator[Shell]:
    with fresh_shell() as made:
        yield made


# ---- reading and checking --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "given"),
    [
        ("%compile --xla disable_hlo_passes=fusion loss(w, x)", "xla_disable_hlo_passes=fusion"),
        ("%compile loss(w, x) --xla --xla_cpu_enable_fast_math=true -O2", "xla_cpu_enable_fast_math=True · xla_b"),
        ("%%compile -O 0 -o ins\nloss(w, x)", "xla_backend_optimization_level=0"),
        ('%compile --xla "dump_hlo_pass_re=a b" loss(w, x)', "xla_dump_hlo_pass_re=a b"),
        ('%compile --xla dump_hlo_pass_re="a b" loss(w, x)', "xla_dump_hlo_pass_re=a b"),
    ],
)
def test_options_on_the_magics_line(shell: Shell, line: str, given: str) -> None:
    seen = shell.run(line)
    assert seen.ok, seen.text
    assert f"options {given}" in seen.text


def test_options_hold_for_every_call_and_for_run(shell: Shell) -> None:
    seen = shell.run("%compile -o both --run -O1 loss(w, x); jax.grad(loss)(w, x)")
    assert len(seen.value) == 2
    assert [i.summary()["options"] for i in shell["both"]] == [{"xla_backend_optimization_level": 1}] * 2


MISTAKES = [
    ("%compile --xla zork=1 loss(w, x)", ("XLA", "'zork'")),
    ("%%compile --xla cpu_enable_fast_math=maybe\nran = 1", ("True", "False", "'maybe'")),
    ("%compile -O 4 loss(w, x)", ("'4'", "0", "3")),
    ("%compile --fdo-profile /no/such/file loss(w, x)", ("FDO", "'/no/such/file'")),
    ("%compile --autotune-results /no/such loss(w, x)", ("'/no/such'",)),
    ("%compile --save-autotune-results /no/such/a.pb loss(w, x)", ("'/no/such'",)),
    ("%compile --xla", ("--xla", "name=value")),
    ("%trace --xla dump_to=a loss(w, x)", ("--xla",)),
    ("%lower -O1 loss(w, x)", ("-O1",)),
    ("%xla_flags zork", ("'zork'",)),
]


@pytest.mark.parametrize(("line", "facts"), MISTAKES)
def test_mistakes_are_one_line_and_nothing_runs(shell: Shell, line: str, facts: tuple[str, ...]) -> None:
    seen = shell.run(line)
    assert type(seen.error).__name__ == "UsageError"
    assert all(fact in seen.text for fact in facts)
    assert len(seen.text.strip().splitlines()) == 1
    assert "ran" not in shell


def test_the_flag_table(shell: Shell) -> None:
    lines = shell.run("%xla_flags fast math cpu enable").text.splitlines()
    assert [line.split() for line in lines] == [
        ["flag", "type", "default"],
        ["xla_cpu_enable_fast_math", "bool", "False"],
    ]
    text = shell.run("%xla_flags step marker").text
    assert "(not set)" in text
    assert "values: STEP_MARK_AT_ENTRY, " in text
    assert len(shell.run("%xla_flags").text.splitlines()) == len(xla_flags.installed().by_name) + 1


def test_no_table_without_flags(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xla_flags, "installed", lambda: Flags({}, "no list"))
    assert "no list; %compile --xla passes names to XLA unchecked" in shell.run("%xla_flags").text


@pytest.mark.filterwarnings("ignore:`Completer.complete` is pending")
@pytest.mark.parametrize("jedi", [True, False])
@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("%compile --xla xla_cpu_enable_fast_ma", ["xla_cpu_enable_fast_math="]),
        ("%%compile -o a --xla cpu_enable_fast_ma", ["cpu_enable_fast_math="]),
        ("%compile --xla=cpu_enable_fast_ma", ["cpu_enable_fast_math="]),
        ("%compile --xla --xla_cpu_enable_fast_ma", ["--xla_cpu_enable_fast_math="]),
        ("%compile --xla dump_to=a --xla cpu_enable_fast_ma", ["cpu_enable_fast_math="]),
        ("%compile --xla cpu_enable_fast_math=", ["False", "True"]),
        ("%compile --xla xla_step_marker_location=step_mark_n", ["STEP_MARK_NONE"]),
        ("%compile --xla dump_to=a --xl", ["--xla"]),
        ("%compile --fd", ["--fdo-profile"]),
        ("%compile --auto", ["--autotune-results"]),
        ("%compile --save", ["--save-autotune-results"]),
        ("%xla_flags xla_cpu_enable_fast_ma", ["xla_cpu_enable_fast_math"]),
        ("%compile --xla zork", []),
        ("%trace --xla cpu_enable_fast_ma", []),
    ],
)
def test_flags_complete(shell: Shell, line: str, found: list[str], jedi: bool) -> None:
    shell.ip.Completer.use_jedi = jedi
    assert sorted(shell.ip.complete("", line, len(line))[1]) == found


@pytest.mark.filterwarnings("ignore:`Completer.complete` is pending")
def test_all_flags_complete_after_a_space(shell: Shell) -> None:
    found = shell.ip.complete("", "%compile --xla ", 15)[1]
    assert sorted(found) == sorted(f"{name}=" for name in xla_flags.installed().by_name)


def test_help_tells_of_them(shell: Shell) -> None:
    text = shell.run("%compile?").text
    assert all(option in text for option in ("--xla", "--optimization-level", "--fdo-profile", "%xla_flags lists"))
    assert "--xla" not in shell.run("%trace?").text
    assert "XLA_FLAGS" in shell.run("%xla_flags?").text
