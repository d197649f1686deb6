"""A prediction beside a profile, both made by hand: each figure is a sum or a median that can be counted."""

from __future__ import annotations

import pytest

from jaxstage_ext.profiling.predictions import check_wording
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.report.prediction import PredictedLoop
from jaxstage_ext.report.recording import NONE, EventKind
from tests.helpers.predicted_recordings import Planned, all_reduce, places, predicted_timeline
from tests.helpers.recordings import Event, recording

MICRO = 1e-6
PREDICTED = predicted_timeline(
    [
        Planned("dot.1", 0, 10, line=3),
        all_reduce("all-reduce.1", 10, 20, line=4),
        Planned("dot.2", 30, 5, line=3),
        Planned("never.1", 35, 1, line=5),
    ]
)


def measured(module: str = "jit_step") -> Timeline:
    """Three runs of 100 µs each; dot.1 takes 11, 12 and 40 µs, in which the median is 12."""
    events = []
    for run, first in enumerate((11, 12, 40)):
        at = 100.0 * run
        for name, start, length in (
            ("dot.1", 0, first),
            ("all-reduce.1", 40, 26),
            ("dot.2", 70, 5),
            ("added.1", 80, 2),
        ):
            events.append(Event("stream", name, at + start, length, EventKind.KERNEL, op=(module, name), run=run))
    made = recording(events)
    return Timeline(made, places(made, {"dot.1": 3, "all-reduce.1": 4, "dot.2": 3}))


def test_each_instruction_is_aligned_by_name() -> None:
    rows = {row["op"]: row for row in PREDICTED.against(measured()).rows()}
    assert list(rows) == ["all-reduce.1", "added.1", "dot.1", "never.1", "dot.2"]  # by missed time: 6, 2, 2, -1, 0
    assert rows["dot.1"]["measured"] == pytest.approx(12 * MICRO) and rows["dot.1"]["ratio"] == pytest.approx(1.2)
    assert rows["all-reduce.1"]["missed"] == pytest.approx(6 * MICRO)
    assert rows["added.1"]["predicted"] is None and rows["never.1"]["measured"] is None


def test_lines_add_up_their_instructions() -> None:
    rows = {row["line"]: row for row in PREDICTED.against(measured(), by="line").rows()}
    assert rows["train.py:3"]["predicted"] == pytest.approx(15 * MICRO)
    assert rows["train.py:3"]["measured"] == pytest.approx(17 * MICRO)
    assert rows[None]["measured"] == pytest.approx(2 * MICRO)


def test_what_the_estimate_leaves_out_is_said() -> None:
    """Of 282 µs, 11 + 12 + 40 + 3 * (26 + 5 + 2) = 162 are busy: 40 µs a run are idle."""
    assert any("40 µs" in note for note in PREDICTED.against(measured()).notes)


def test_a_loop_is_compared_in_all_its_iterations() -> None:
    loop = PredictedLoop("while.1", 3, 4 * MICRO, 0.0, 4 * MICRO)
    drawn = predicted_timeline([Planned("dot.1", 0, 4), Planned("dot.2", 4, 1)], loops=(loop,))
    row = next(row for row in drawn.against(measured()).rows() if row["op"] == "dot.1")
    assert row["predicted"] == pytest.approx(12 * MICRO)


def test_a_profile_of_another_module_says_so() -> None:
    notes = PREDICTED.against(measured("jit_other")).notes
    assert any("jit_step" in note and "3 of 4" in note for note in notes)


def test_runs_that_a_profile_does_not_name_are_inferred() -> None:
    """Two runs of two kernels; the library call launches two kernels each, the loop's body runs three times each."""
    names = (("dot.1", "sgemm", 11), ("dot.1", "splitk", 1), *(("dot.2", "loop", 2),) * 3, ("all-reduce.1", "nccl", 26))
    events = [
        Event("stream", kernel, 300 * run + 30 * at, length, EventKind.KERNEL, op=("jit_step", op), run=NONE)
        for run in range(2)
        for at, (op, kernel, length) in enumerate(names)
    ]
    made = recording(events)
    table = PREDICTED.against(Timeline(made, places(made, {})))
    assert {row["op"]: row["measured"] for row in table.rows() if row["measured"]} == pytest.approx(
        {"dot.1": 12 * MICRO, "dot.2": 6 * MICRO, "all-reduce.1": 26 * MICRO}
    )
    assert any("inferred" in note and "2 runs" in note for note in table.notes)


def test_only_a_prediction_and_a_profile_are_compared() -> None:
    with pytest.raises(
        ValueError, match=check_wording.NOT_MEASURED_EITHER[:30].replace("(", r"\(").replace(")", r"\)")
    ):
        PREDICTED.against(PREDICTED)
    with pytest.raises(ValueError, match="measured"):
        measured().against(PREDICTED)
    with pytest.raises(ValueError, match="'kernel'"):
        PREDICTED.against(measured(), by="kernel")
    with pytest.raises(ValueError, match="different quantities"):
        PREDICTED.compare(measured())
