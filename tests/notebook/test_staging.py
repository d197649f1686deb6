"""Stages under one panel: what shows while they run, fail or are stopped."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from magic_shell import Shell, fresh_shell

from jaxstage_ext.notebook import staging

LOSS = "loss(w: f32[4,3], x: f32[2,4]) -> f32[]"


@pytest.fixture(scope="module")
def shell() -> Iterator[Shell]:
    with fresh_shell() as made:
        yield made


def test_a_failing_stage_shows_the_panel_and_one_line_and_the_cell_fails(shell: Shell) -> None:
    seen = shell.run("%%compile -o ins\ndef bad(x):\n    y = x + 1\n    return y if x.sum() > 0 else x\nbad(x)")
    assert seen.panels
    assert type(seen.error).__name__ == "TracerBoolConversionError"
    assert "Traceback" not in seen.text
    assert "jaxstage_ext" not in seen.text
    last = seen.text.rstrip("\n").split("\n")[-1]
    assert last.startswith("TracerBoolConversionError: Attempted boolean conversion")
    assert last.endswith("(see the panel above)")
    assert shell["ins"].error.span.line == 4


def test_the_one_line_is_the_explanation_where_there_is_one_and_has_no_address(shell: Shell) -> None:
    named = (
        shell.run("%%compile\ndef mode_of(x, mode):\n    return x\nmode_of(x, 'fast')").text.rstrip().split("\n")[-1]
    )
    assert named.startswith("TypeError: mode is a str, not an array") and " at 0x" not in named


def test_one_failing_call_leaves_the_others(shell: Shell) -> None:
    seen = shell.run("%%compile -o both loss(w, w); loss(w, x)\n1;")
    assert len(seen.panels) == 2
    assert [each.compiled is None for each in shell["both"]] == [True, False]
    assert isinstance(seen.error, TypeError)


def test_quiet_failure_tells_all(shell: Shell) -> None:
    seen = shell.run("%%compile -q\ndef bad(x):\n    return x + jnp.ones((5, 5))\nbad(x)")
    assert "return x + jnp.ones((5, 5))" in seen.text
    assert "jaxstage_ext" not in seen.text


def test_an_interrupt_keeps_what_is_there_and_shows_no_traceback(shell: Shell) -> None:
    seen = shell.run("%%compile -o ins\ndef stopped(x):\n    raise KeyboardInterrupt\nstopped(x); loss(w, x)")
    assert isinstance(seen.error, KeyboardInterrupt)
    assert "Traceback" not in seen.text
    assert seen.text.rstrip().endswith("KeyboardInterrupt (stopped; the panel shows how far it got)")
    assert [each.error is not None for each in shell["ins"]] == [True, False]
    assert shell["ins"][1].traced is None


def test_an_executable_that_fails_is_shown_without_our_frames(shell: Shell) -> None:
    shell.run("gone = jnp.ones((2, 4))\ngone.delete()")
    seen = shell.run("%%compile --run\nloss(w, gone)")
    assert seen.panels == [LOSS]
    assert "deleted" in str(seen.error)
    assert "jaxstage_ext/" not in seen.text


def test_names_with_markup_and_emoji(shell: Shell) -> None:
    seen = shell.run(
        "%trace (lambda s: s['<script>alert(1)</script> 🎉 \"q\"'])({'<script>alert(1)</script> 🎉 \"q\"': w})"
    )
    assert seen.ok, seen.text


def test_the_panel_is_there_before_the_first_stage_and_told_of_each(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Any] = []

    def states(programs: Any) -> str:
        return " ".join(f"{stage.state[0]}" for program in programs for stage in program.staged.stages)

    def show(programs: Any) -> Any:
        told.append(("show", states(programs)))
        return SimpleNamespace(
            refresh=lambda each: told.append(("refresh", states(each))),
            finish=lambda each: told.append(("finish", states(each))),
        )

    monkeypatch.setattr(staging, "_show", show)
    shell.run("%%lower\nloss(w, x); loss(w, w)")
    assert told == [
        ("show", "w w w w"),
        ("refresh", "r w w w"),
        ("refresh", "d w w w"),
        ("refresh", "d r w w"),
        ("refresh", "d d w w"),
        ("refresh", "d d r w"),
        ("refresh", "d d f w"),
        ("finish", "d d f w"),
    ]


def test_an_interrupt_while_the_end_is_shown_is_kept_and_the_end_is_shown_all_the_same(monkeypatch) -> None:
    import jax.numpy as jnp

    from jaxstage_ext.core.call import Call
    from jaxstage_ext.notebook import staging

    class Slow:
        finished = 0

        def refresh(self, inspections) -> None:
            pass

        def finish(self, inspections) -> None:
            self.finished += 1
            if self.finished == 1:
                raise KeyboardInterrupt

    slow = Slow()
    monkeypatch.setattr(staging, "_show", lambda pending: slow)
    inspections, failure = staging.stage(None, [Call(jnp.sin, (1.0,))], "trace", quiet=False)
    assert slow.finished == 2
    assert isinstance(failure, KeyboardInterrupt)
    assert inspections[0].seconds
