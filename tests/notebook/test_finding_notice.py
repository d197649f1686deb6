"""One line below an ordinary cell with the best finding of what it compiled, where the user asked for it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from helpers.magic_shell import Shell, fresh_shell

from jaxstage_ext.findings import found
from jaxstage_ext.findings.detector import Detector, is_compiled
from jaxstage_ext.findings.finding import Finding, Stake, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.program.program import Program

ON = "%config JAXStage.finding_notice = True"
CELL = "import jax, jax.numpy as jnp\nx = jnp.ones(8)\njax.jit(lambda x: jnp.tanh(x) * {})(x);"


def find(program: Program, progress: object) -> list[Finding]:
    return [Finding(FindingKind.SERIAL_LOOP, "tanh is a loop.", Stake(StakeMeasure.MOVED, None, 30.0, 64.0))]


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    monkeypatch.setattr(found, "DETECTORS", (Detector(FindingKind.SERIAL_LOOP, find, is_compiled),))
    with fresh_shell() as made:
        yield made


def test_nothing_is_said_unless_asked(shell: Shell) -> None:
    assert shell.run(CELL.format(2)).text == ""


def test_the_best_finding_of_a_cell_that_compiled_something(shell: Shell) -> None:
    shell.run(ON)
    seen = shell.run(CELL.format(3)).text
    assert "tanh is a loop." in seen and "47%" in seen and "%findings" in seen
    assert seen.count("\n") <= 1


def test_a_cell_that_compiles_nothing_says_nothing(shell: Shell) -> None:
    shell.run(ON)
    shell.run("import jax, jax.numpy as jnp\nf = jax.jit(lambda x: jnp.tanh(x) * 4)\nf(jnp.ones(8));")
    assert shell.run("f(jnp.ones(8));").text == ""


def test_a_cell_without_a_finding_says_nothing(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(found, "DETECTORS", ())
    shell.run(ON)
    assert shell.run(CELL.format(5)).text == ""
