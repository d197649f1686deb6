"""The list of findings: its order, what is too small to tell, what waits for a compile, and what failed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import pytest

from jaxstage_ext import Inspection, inspect
from jaxstage_ext.core.stage.staged import RUNNING
from jaxstage_ext.findings import finding_wording, found
from jaxstage_ext.findings.detector import Detector, Need
from jaxstage_ext.findings.finding import CodeChange, Finding, Stake, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.panel import panel_state
from jaxstage_ext.report.unavailable import Unavailable
from jaxstage_ext.views.static_html import panel_html
from jaxstage_ext.views.text import panel_text

A, B, C, D = FindingKind.COLLECTIVE, FindingKind.LAYOUT_COPY, FindingKind.REUSED_KEY, FindingKind.PROMOTION


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Inspection]:
    def with_detectors(*detectors: Detector) -> Inspection:
        monkeypatch.setattr(found, "DETECTORS", detectors)
        return inspect(lambda x: jnp.tanh(x @ x), jnp.ones((4, 4)))

    return with_detectors


def detector(kind: FindingKind, *stakes: Stake, needs: tuple[Need, ...] = (), text: str = "It is so.") -> Detector:
    made = [Finding(kind, text, stake, names=(str(at),)) for at, stake in enumerate(stakes)]
    return Detector(kind, lambda program, progress: made, needs=needs)


def stake(most: float | None, measure: StakeMeasure = StakeMeasure.TIME) -> Stake:
    return Stake(measure, None, most, 1.0)


def kinds(findings: Sequence[Finding]) -> list[FindingKind]:
    return [one.kind for one in findings]


def test_what_may_be_wrong_comes_first_then_the_largest_share_and_unknown_stakes_last(program: Any) -> None:
    ins = program(
        detector(A, stake(None)),
        detector(B, stake(0.2)),
        detector(C, Stake(StakeMeasure.RESULT)),
        detector(D, stake(0.5)),
    )
    assert kinds(ins.findings) == [C, D, B, A]
    assert ins.findings.best.kind is C


@pytest.mark.parametrize(
    ("one", "is_told"),
    [
        (Stake(StakeMeasure.TIME, None, 0.009, 1.0), False),
        (Stake(StakeMeasure.TIME, None, 0.011, 1.0), True),
        (Stake(StakeMeasure.MEMORY, None, 4_096, 8_192), False),
        (Stake(StakeMeasure.MEMORY, None, 65_536, 131_072), True),
        (Stake(StakeMeasure.COMPILE, None, 0.01, 0.02), False),
        (Stake(StakeMeasure.TIME, None, None, None), True),
    ],
)
def test_what_is_not_worth_telling_is_left_out(program: Any, one: Stake, is_told: bool) -> None:
    assert kinds(program(detector(A, one)).findings) == [A] * is_told


def test_a_kind_that_cannot_be_looked_for_says_why_and_the_others_are_found(program: Any) -> None:
    def refuse(program: object, progress: object) -> list[Finding]:
        raise Unavailable("no buffers are known")

    def break_down(program: object, progress: object) -> list[Finding]:
        raise IndexError("list index out of range")

    ins = program(Detector(A, refuse), Detector(B, break_down), detector(D, stake(0.5)))
    findings = ins.findings
    assert kinds(findings) == [D]
    assert findings.looked == (D,)
    assert len(findings.failures) == 2
    assert "no buffers are known" in findings.failures[0] and "IndexError" in findings.failures[1]


def test_what_takes_a_compile_waits_for_all_and_is_known_afterwards(program: Any) -> None:
    ins = program(detector(A, stake(0.5), needs=(Need.TRIAL,)), detector(B, stake(0.2)))
    assert kinds(ins.findings) == [B]
    assert [one.kind for one in ins.findings.waiting] == [A]
    assert ins.findings.seconds == pytest.approx(ins.seconds["compile"])
    assert kinds(ins.findings.all()) == [A, B]
    assert kinds(ins.findings) == [A, B]
    assert not ins.findings.waiting


def test_a_stage_that_was_not_reached_has_no_such_finding(program: Any) -> None:
    never = Detector(A, lambda program, progress: [Finding(A, "It is so.", stake(0.5))], lambda program: False)
    assert program(never).findings.looked == ()


def test_nothing_found_is_said_with_the_kinds_that_were_looked_for(program: Any) -> None:
    ins = program(detector(A), detector(B))
    assert not ins.findings
    assert f"2 kinds looked for: {A.value}, {B.value}" in str(ins.findings)
    assert "2 kinds" in panel_text([ins.program])


def test_the_first_findings_head_the_text_and_the_page_and_names_are_data(program: Any) -> None:
    ins = program(detector(A, stake(0.5), text="<script>alert(1)</script> is slow."), detector(B, stake(0.2)))
    text, page = panel_text([ins.program]), panel_html([ins.program])
    assert text.index("<script>") < text.index("What bounds it?")
    assert "<script>" not in page and page.index("&lt;script&gt;") < page.index("What bounds it?")
    assert "<script>" not in ins.findings._repr_html_()


def test_what_to_write_stands_below_its_finding(program: Any) -> None:
    diff = CodeChange("--- a\n+++ b\n-f = jax.jit(g)\n+f = jax.jit(g, donate_argnums=0)", is_diff=True)
    words = CodeChange("# leave <it> out")
    made = [
        Finding(kind, f"{kind.value} is so.", stake(most), change=change)
        for kind, most, change in ((A, 0.5, diff), (B, 0.2, words))
    ]
    ins = program(*(Detector(one.kind, lambda program, progress, one=one: [one]) for one in made))
    text, page = panel_text([ins.program]), panel_html([ins.program])
    assert text.index(A.value) < text.index("→ f = jax.jit(g, donate_argnums=0)") < text.index(B.value)
    assert text.index(B.value) < text.index("→ leave <it> out") < text.index("What bounds it?")
    assert "f = jax.jit(g)\n" not in text
    assert "→ leave &lt;it&gt; out" in page
    both = replace(made[1], change=CodeChange("f(x)\n# or g(x)"))
    assert finding_wording.change_in_short(both) == ["→ f(x)", "  # or g(x)"]


def test_at_most_seven_stand_in_full_and_the_rest_is_counted(program: Any) -> None:
    ins = program(*(detector(kind, stake(0.9 - 0.01 * at)) for at, kind in enumerate(list(FindingKind)[:10])))
    assert len(ins.findings) == 10
    assert str(ins.findings).count("It is so.") == 7
    assert len(ins.findings.table) == 10


def test_a_change_without_a_trial_cannot_be_tried(program: Any) -> None:
    by_hand = Finding(A, "It is so.", stake(0.5), change=CodeChange("x = 1"))
    ins = program(Detector(A, lambda program, progress: [by_hand]))
    with pytest.raises(Unavailable, match="by hand"):
        ins.findings[0].try_()


def test_the_panel_says_the_best_finding_in_its_head_and_a_running_program_none(program: Any) -> None:
    ins = program(detector(A, stake(0.2), text="Slow."), detector(B, stake(0.5), text="Slower."))
    [call] = panel_state.state_of([ins.program], False)["calls"]
    assert call["finding"].endswith("Slower.") and "50%" in call["finding"]
    assert call["views"][:2] == ["findings", "code"] and call["open"] == "findings"
    ins.program.staged.stages[-1].state = RUNNING
    assert not panel_state.state_of([ins.program], True)["calls"][0]["finding"]


def test_without_a_finding_the_code_opens_and_the_head_says_what_was_not_looked_for(program: Any) -> None:
    ins = program(Detector(A, lambda program, progress: [], needs=(Need.TRIAL,)))
    [call] = panel_state.state_of([ins.program], False)["calls"]
    assert call["open"] == "" and A.value in call["finding"]
    ins.findings.all()
    assert not panel_state.state_of([ins.program], False)["calls"][0]["finding"]


def test_the_table_has_the_lines_to_write_and_not_those_around_them(program: Any) -> None:
    head = "--- In [2]\n+++ In [2], changed\n@@ -12,2 +12,2 @@\n"
    of_diff = f"{head} \n-@jax.jit\n+@jax.jit(donate_argnames='x')\n def step(x):"
    made = [
        Finding(A, "It is so.", stake(0.5), change=CodeChange(of_diff, True)),
        Finding(B, "It is so.", stake(0.4), change=CodeChange("x = 1\ny = 2")),
        Finding(C, "It is so.", stake(0.3)),
    ]
    ins = program(Detector(A, lambda program, progress: made))
    assert list(ins.findings.table["change"]) == ["@jax.jit(donate_argnames='x')", "x = 1; y = 2", ""]
    assert of_diff.splitlines()[4] in str(ins.findings)
