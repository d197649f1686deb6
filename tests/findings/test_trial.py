"""A change that is compiled beside the program as written: what it gains, and what it does to the list."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import pytest

from jaxstage_ext import Inspection, inspect
from jaxstage_ext.core.call import Call
from jaxstage_ext.core.stage import compile_stage, events
from jaxstage_ext.findings import found
from jaxstage_ext.findings import trial as trial_module
from jaxstage_ext.findings.detector import Detector
from jaxstage_ext.findings.finding import CodeChange, Finding, Stake, StakeMeasure, TrialOutcome
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.findings.staged_changes import of_call
from jaxstage_ext.report.unavailable import Unavailable

KIND = FindingKind.LAYOUT_COPY
X = jnp.ones((256, 256))


def twice(x: Any) -> Any:
    return jnp.sort(x, 0) + jnp.sort(x * 1.5, 0)


def once(x: Any) -> Any:
    return jnp.sort(x, 0) * 2.5


def wrong(x: Any) -> Any:
    raise ValueError("the change does not trace")


def found_with(monkeypatch: pytest.MonkeyPatch, fn: Any, other: Any, measure: StakeMeasure, **options: Any) -> Any:
    def change(call: Call) -> Call:
        return replace(call, fn=other)

    def find(program: Any, progress: Any) -> list[Finding]:
        return [
            Finding(
                KIND, "It is so.", Stake(measure, None, 0.1, 1.0), change=CodeChange("once(x)", False, of_call(change))
            ),
            Finding(FindingKind.COLLECTIVE, "Less.", Stake(measure, None, 0.05, 1.0)),
        ]

    monkeypatch.setattr(found, "DETECTORS", (Detector(KIND, find),))
    return inspect(fn, X, **options)


def test_a_change_that_pays_gains_what_the_two_compiles_differ_in(monkeypatch: pytest.MonkeyPatch) -> None:
    ins = found_with(monkeypatch, twice, once, StakeMeasure.MOVED)
    trial = ins.findings[0].try_()
    other = inspect(once, X)
    assert trial.outcome is TrialOutcome.PAYS
    assert trial.realised == ins.row().figures["bytes"].value - other.row().figures["bytes"].value
    assert isinstance(trial.inspection, Inspection)
    assert trial.inspection.call.fn is once
    assert ins.findings[0].trial is not None and ins.findings[0].kind is KIND
    assert not trial.is_same_hlo
    assert "bytes moved" in [one.title for one in trial.changed]


def test_a_change_that_loses_is_told_and_moves_down(monkeypatch: pytest.MonkeyPatch) -> None:
    ins = found_with(monkeypatch, once, twice, StakeMeasure.MOVED)
    assert ins.findings[0].kind is KIND
    assert ins.findings[0].try_().outcome is TrialOutcome.WORSE
    assert [one.kind for one in ins.findings] == [FindingKind.COLLECTIVE, KIND]


def test_the_same_hlo_is_no_change(monkeypatch: pytest.MonkeyPatch) -> None:
    ins = found_with(monkeypatch, once, lambda x: jnp.sort(x, 0) * 2.5, StakeMeasure.MOVED)
    assert ins.findings[0].try_().outcome is TrialOutcome.NO_CHANGE


def test_a_change_that_does_not_compile_says_where_it_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    ins = found_with(monkeypatch, once, wrong, StakeMeasure.MOVED)
    with pytest.raises(Unavailable, match="trace: ValueError: the change does not trace"):
        ins.findings[0].try_()
    assert ins.findings[0].trial is None


@pytest.mark.parametrize("target", ["v5e:1x1", "h100"])
def test_the_change_is_compiled_for_the_target_of_the_program(monkeypatch: pytest.MonkeyPatch, target: str) -> None:
    ins = found_with(monkeypatch, twice, once, StakeMeasure.TIME, target=target)
    trial = ins.findings[0].try_()
    assert trial.outcome is TrialOutcome.PAYS
    assert str(trial.after.target) == str(ins.target)
    assert trial.realised == pytest.approx(
        ins.row().figures["time"].value - trial.inspection.row().figures["time"].value
    )


def test_a_trial_compiles_nothing_in_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    ins = found_with(monkeypatch, twice, once, StakeMeasure.MOVED)
    with events.hear() as heard:
        ins.findings[0].try_()
    assert heard.seconds(compile_stage.DEFINITION.event) is None


def test_the_time_of_a_compile_is_compared_with_one_in_a_worker_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel's own compile and a worker's of one program differ by more than most changes gain."""
    ins = found_with(monkeypatch, twice, lambda x: jnp.sort(x, 0) + jnp.sort(x * 1.5, 0), StakeMeasure.COMPILE)
    trial = ins.findings[0].try_()
    assert trial.timed is not None
    assert trial.realised == trial.timed.seconds["compile"] - trial.after.seconds["compile"]
    monkeypatch.setattr(trial_module, "_SAME_TIME", 1e9)
    assert trial.outcome is TrialOutcome.NO_GAIN


def test_what_gains_nothing_comes_after_what_nobody_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    def change(call: Call) -> Call:
        return replace(call, fn=lambda x: jnp.sort(x, 0) * 2.5)

    tried = CodeChange("once(x)", False, of_call(change))
    made = [
        Finding(KIND, "It is so.", Stake(StakeMeasure.MOVED, None, 0.1, 1.0), change=tried),
        Finding(FindingKind.COLLECTIVE, "It may be so.", Stake(StakeMeasure.MOVED, None, None, 1.0)),
    ]
    monkeypatch.setattr(found, "DETECTORS", (Detector(KIND, lambda program, progress: made),))
    ins = inspect(once, X)
    assert ins.findings[0].kind is KIND
    ins.findings[0].try_()
    assert [one.kind for one in ins.findings] == [FindingKind.COLLECTIVE, KIND]
