"""What a magic's cell does to the session: the same as a plain cell, all but the staged call."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest
from magic_shell import Shell, fresh_shell

from jaxstage_ext.notebook.cells.cell import functions, last_calls


@pytest.fixture
def shell() -> Iterator[Shell]:
    with fresh_shell() as made:
        yield made


def normal(text: str) -> str:
    """Text of a traceback without what names the cell."""
    return re.sub(r"In\[\d+\]|ipython-input-\d+-\w+", "In", text).replace("# %%compile", "#")


def test_definitions_and_other_statements_take_effect(shell: Shell) -> None:
    seen = shell.run("%%compile\nprint('hello')\nn = 3\ndef g(x):\n    return x * n\ng(x)")
    assert seen.text.startswith("hello\n")
    assert shell["n"] == 3
    assert shell.run("g(2)").value == 6


def test_the_staged_call_is_not_run_and_its_arguments_are_evaluated_once(shell: Shell) -> None:
    shell.run(
        "ran = []\ndef noted(a):\n    ran.append(a)\n    return a\ndef arg():\n    ran.append('arg')\n    return 2.0"
    )
    seen = shell.run("%%compile\nnoted(arg())")
    assert seen.ok
    assert shell["ran"][0] == "arg"
    assert shell["ran"].count("arg") == 1
    assert [type(value).__name__ for value in shell["ran"][1:]] == ["DynamicJaxprTracer"]


def test_history_holds_the_cell_as_typed(shell: Shell) -> None:
    cell = "%%compile\nloss(w, x)"
    before = shell.ip.execution_count
    shell.run(cell)
    assert shell.ip.execution_count == before + 1
    assert shell.ip.history_manager.input_hist_raw[-1] == cell


@pytest.mark.parametrize(
    ("interactivity", "body"),
    [
        ("last_expr", "1 + 1"),
        ("last_expr", "1 + 1;"),
        ("last_expr", "5\na = 7"),
        ("last_expr_or_assign", "a = 7"),
        ("last_expr_or_assign", "a = 7;"),
        ("last", "for i in range(2): i"),
        ("all", "1\n2\nloss"),
        ("none", "1 + 1"),
    ],
)
def test_values_show_as_in_a_plain_cell(shell: Shell, interactivity: str, body: str) -> None:
    shell.ip.ast_node_interactivity = interactivity
    plain = shell.run(body)
    seen = shell.run(f"%%trace loss(w, x)\n{body}")
    assert seen.text.split("┌")[0].replace(f"Out[{shell.ip.execution_count - 1}]", "Out") == plain.text.replace(
        f"Out[{shell.ip.execution_count - 2}]", "Out"
    )
    assert repr(seen.value) == repr(plain.value)


def test_before_a_staged_call_nothing_shows(shell: Shell) -> None:
    assert shell.run("%%trace\n1 + 1\nloss(w, x)").text.startswith("┌")


def test_underscore_holds_the_last_value(shell: Shell) -> None:
    shell.run("%%trace loss(w, x)\n40 + 2")
    assert shell.run("_").value == 42


def test_magics_and_shell_commands_inside(shell: Shell) -> None:
    commands: list[str] = []
    shell.ip.system = commands.append
    seen = shell.run("%%trace\n!echo from the shell\n%xmode Context\nloss(w, x)")
    assert seen.ok
    assert commands == ["echo from the shell"]
    assert seen.panels == ["loss(w: f32[4,3], x: f32[2,4]) -> f32[]"]


def test_a_magic_on_the_last_line_is_no_call_to_stage(shell: Shell) -> None:
    seen = shell.run("%%trace loss(w, x)\n%xmode Context")
    assert seen.ok
    seen = shell.run("%%trace\n%xmode Context")
    assert "nothing to trace" in seen.text


def test_top_level_await(shell: Shell) -> None:
    seen = shell.run(
        "%%trace\nimport asyncio\nasync def two():\n    return await asyncio.sleep(0, 2.0)\nloss(w * await two(), x)"
    )
    assert seen.ok
    assert seen.panels == ["loss(w: f32[4,3], x: f32[2,4]) -> f32[]"]
    assert shell.run("%%trace -o ins loss(w * await two(), x)\nthree = await two() + 1").ok
    assert (shell["three"], shell["ins"].stage) == (3.0, "trace")


def test_capture_around_it(shell: Shell) -> None:
    seen = shell.run("%%capture cap\n%%trace\nprint('inside')\nloss(w, x)")
    assert seen.ok
    assert seen.text == ""
    assert shell["cap"].stdout.startswith("inside\n┌ loss")


def test_time_around_it(shell: Shell) -> None:
    seen = shell.run("%%time\n%%trace\nloss(w, x)")
    assert seen.ok
    assert "Wall time" in seen.text
    assert len(seen.panels) == 1


def test_a_cell_magic_below_it_is_told_where_to_go(shell: Shell) -> None:
    seen = shell.run("%%trace\n%%time\nloss(w, x)")
    assert "put %%time above %%trace" in seen.text
    assert seen.text.count("\n") == 1


@pytest.mark.parametrize(
    "body",
    [
        "def f(x:\n    pass",
        "  indented = 1\nwrong = 2",
        "a = 1\nloss(w, zzz)",
        "def f():\n    return 1/0\nf() + 1\nloss(w, x)",
        "raise KeyboardInterrupt\nloss(w, x)",
        "eval('1 +')\nloss(w, x)",
        "return 3",
        "import nowhere_to_be_found\nloss(w, x)",
        "try:\n    1/0\nexcept ZeroDivisionError as e:\n    raise ValueError('v') from e\nloss(w, x)",
        "await nothing\nloss(w, x)",
        "raise SystemExit(3)\nloss(w, x)",
    ],
)
@pytest.mark.filterwarnings("ignore:To exit")
@pytest.mark.parametrize("mode", ["Context", "Plain", "Minimal", "Verbose"])
def test_errors_show_once_as_in_a_plain_cell_and_nothing_is_staged(shell: Shell, body: str, mode: str) -> None:
    shell.ip.run_line_magic("xmode", mode)
    plain = shell.run("#\n" + body)
    seen = shell.run("%%compile\n" + body)
    assert type(seen.error).__name__ == type(plain.error).__name__
    assert not seen.panels
    assert "jaxstage" not in seen.text
    if "eval" not in body and mode != "Verbose":
        assert normal(seen.text) == normal(plain.text)


def test_exception_groups_show_without_our_frames(shell: Shell) -> None:
    seen = shell.run("%%compile\nraise ExceptionGroup('several', [ValueError(1)])")
    assert "ExceptionGroup: several" in seen.text
    assert "jaxstage" not in seen.text
    assert type(seen.error).__name__ == "ExceptionGroup"


def test_an_error_that_is_raised_again_elsewhere_shows_where(shell: Shell) -> None:
    shell.run("%%compile\nkept = ValueError('kept')\nraise kept")
    assert "raise kept  # again" in shell.run("raise kept  # again").text


def test_statements_before_an_error_have_run_and_those_after_have_not(shell: Shell) -> None:
    shell.run("%%compile\na = 1\n1/0\nb = 2\nloss(w, x)")
    assert shell["a"] == 1
    assert "b" not in shell


def test_lines_keep_the_numbers_that_the_user_sees(shell: Shell) -> None:
    shell.run("\n\n%%compile -o ins\ndef g(x):\n    return x + 1\ng(x)")
    document = shell["ins"].documents["jaxpr"]
    spans = [document.source_of(n) for n in range(1, len(document) + 1)]
    assert {(span.cell, span.line) for span in spans if span} == {(f"In [{shell.ip.execution_count - 1}]", 5)}


def test_the_label_is_the_cells_prompt_also_inside_another_magic(shell: Shell) -> None:
    shell.run("%%capture\n%%trace -o ins\nloss(w, x)")
    assert shell["ins"].call.cell == f"In [{shell.ip.execution_count - 1}]"


def calls_of(source: str) -> list[str]:
    return [ast.unparse(call) for call in last_calls(ast.parse(source).body)]


@pytest.mark.parametrize(
    ("source", "calls"),
    [
        ("a = 1\nf(a)", ["f(a)"]),
        ("f(\n  1,\n  2)", ["f(1, 2)"]),
        ("f(1); g(2)", ["f(1)", "g(2)"]),
        ("f(1)\ng(2);", ["g(2)"]),
        ("a = 1; f(a)", ["f(a)"]),
        ("y = f(1)", []),
        ("f", ["f"]),
        ("f.g", []),
        ("g(2); f", ["f"]),
        ("f(1), g(2)", []),
        ("f(1) + 1", []),
        ("for i in a: f(i)", []),
        ("await f(1)", []),
        ("get_ipython().system('ls')", []),
        ("jax.grad(f)(x)", ["jax.grad(f)(x)"]),
        ("", []),
    ],
)
def test_which_statements_are_the_call(source: str, calls: list[str]) -> None:
    assert calls_of(source) == calls


def test_functions_of_a_cell() -> None:
    body = ast.parse(
        "def f(x): return g(x)\ng = lambda x: h\nstep = jax.jit(f)\nn = 3\nclass A: pass\nif n:\n  def k(): ..."
    ).body
    assert {name: used - {"x"} for name, used in functions(body).items()} == {
        "f": {"g"},
        "g": {"h"},
        "step": {"jax", "f"},
    }
