"""A command that a sentence gives does what the sentence says when it is typed as it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.magic_shell import Shell, fresh_shell

ROOT = Path(__file__).parents[2]
SENTENCES = sorted((ROOT / "tests" / "wording" / "__snapshots__" / "test_sentences").iterdir())
CALL_WITHOUT_A_CELL = re.compile(r"%%[a-z_]+ (?:-[^`(\n]* )?[\w.]+\([^)]*\)")
"""IPython refuses a cell magic that has no line below it: `%%profile is a cell magic, but the cell body is empty`."""
MODEL = """\
@jax.jit
def step(w, x):
    return w - 0.1 * jax.grad(loss)(w, x)
update = jax.jit(lambda state, x: state + x.sum(), donate_argnums=0)
state = jnp.ones(8)
"""


@pytest.fixture
def shell() -> Iterator[Shell]:
    with fresh_shell() as shell:
        assert shell.run(MODEL).ok
        yield shell


def advised(text: str) -> str:
    found = re.search(r"(%\w+ \w+\(\.\.\.\))", text)
    assert found, text
    return found[1]


def test_what_an_answer_says_measures_it_measures_it(shell: Shell) -> None:
    assert shell.run("%compile -o p step(w, x)").ok
    command = advised(shell["p"].answers["answer"][-1]).replace("(...)", "(w, x)")
    seen = shell.run(command.replace("%profile ", "%profile -o p "))
    assert seen.ok, seen.text
    assert shell["p"].timeline.headline.line.startswith("In [")


@pytest.mark.parametrize("tail", ["", ";"])
def test_the_call_of_an_assignment_is_named_as_it_is_to_be_typed(shell: Shell, tail: str) -> None:
    refused = str(shell.run(f"%compile new = step(w, x){tail}").error)
    call = refused.rsplit("name the call alone: ")[1]
    assert shell.run(f"%compile -o p {call}").ok and shell["p"].program.name == "step"


def test_a_donating_call_is_profiled_as_the_error_says(shell: Shell) -> None:
    refused = str(shell.run("%profile -n 3 update(state, x)").error)
    magic = re.search(r"%%profile -n 3", refused)
    assert magic and "donates" in refused and "in a cell below" in refused
    seen = shell.run(f"{magic[0]} -o p\nstate = update(state, x)")
    assert seen.ok and len(shell["p"].timeline.steps()) == 3, seen.text


def test_a_function_that_no_arguments_help_is_not_said_to_need_them(shell: Shell) -> None:
    refused = str(shell.run("%%compile\nasync def co(x):\n    return x").error)
    assert "coroutine" in refused and "--args" not in refused
    both = str(shell.run("%%compile\nasync def co(x):\n    return x\ndef plain(x):\n    return x").error)
    assert "%%compile plain(...)" in both


def test_what_was_not_run_here_is_not_said_to_be_measured_by_a_run_here(shell: Shell) -> None:
    assert shell.run("%compile -t cpu:2 -o p step(w, x)").ok
    answer = shell["p"].answers["answer"][-1]
    assert "nothing was run on cpu:2" in answer and "this machine's own devices" in answer


@pytest.mark.parametrize("file", SENTENCES, ids=[file.stem for file in SENTENCES])
def test_no_sentence_gives_a_cell_magic_with_a_call_and_no_cell(file: Path) -> None:
    answers = [line for line in file.read_text().splitlines() if line.startswith(" ")]
    text = "\n".join(answers).replace("on the magic's line (%%", "")  # of a cell that is there
    assert not CALL_WITHOUT_A_CELL.search(text)


def test_no_example_in_a_docstring_is_a_cell_magic_without_a_cell() -> None:
    with fresh_shell() as shell:
        magics = shell.ip.magics_manager.magics["cell"]
        ours = {name: magic.__doc__ or "" for name, magic in magics.items() if "jaxstage" in magic.__module__}
    assert {"compile", "profile"} <= set(ours)
    alone = [
        line
        for text in ours.values()
        for line, below in zip(text.splitlines(), [*text.splitlines()[1:], ""], strict=True)
        if CALL_WITHOUT_A_CELL.match(line.strip()) and (not below.strip() or below.strip().startswith("%"))
    ]
    assert not alone


def test_the_readme_has_no_cell_magic_with_a_call_and_no_cell() -> None:
    assert not CALL_WITHOUT_A_CELL.findall((ROOT / "README.md").read_text())
