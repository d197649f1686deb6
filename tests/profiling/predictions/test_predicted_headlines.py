"""What a predicted timeline says: of schedules made by hand, whose sums can be counted."""

from __future__ import annotations

import re

import pytest

from jaxstage_ext.profiling.analysis.timeline_comparison import TimesOf, side
from jaxstage_ext.profiling.predictions import exposed_wording
from jaxstage_ext.profiling.predictions import predicted_timeline_wording as wording
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.report.prediction import PredictedLoop
from jaxstage_ext.report.recording import EventKind
from tests.helpers.predicted_recordings import Planned, all_reduce, places, predicted_timeline
from tests.helpers.recordings import Event, recording

MICRO = 1e-6
LOOP = PredictedLoop("while.1", 4, 30 * MICRO, 10 * MICRO, 40 * MICRO)
STEP = (
    Planned("dot.1", 0, 10, line=3),
    Planned("dot.2", 10, 10, line=4),
    all_reduce("all-reduce.1", 20, 20, line=5),
    Planned("dot.3", 35, 5, line=4),  # hides 5 of the 20
    Planned("dot.4", 40, 12, line=3),
)


def made(**fields: object) -> Timeline:
    return predicted_timeline(STEP, seconds=142 * MICRO, **fields)


def test_the_line_that_takes_most_is_that_of_a_call_with_its_loops() -> None:
    """Line 4: 4 times 15 µs; line 5: 4 times 15 µs exposed, the later number; line 3: 22 µs."""
    headline = made(loops=(LOOP,)).headline.predicted
    assert headline is not None and headline.longest is not None
    assert (headline.longest.line, headline.longest.seconds) == ("train.py:4", pytest.approx(60 * MICRO))
    once = made().headline.predicted
    assert once is not None and once.longest is not None and once.longest.line == "train.py:3"
    [exposed] = headline.exposed
    assert (exposed.line, exposed.kind, exposed.seconds) == ("train.py:5", "all-reduce", pytest.approx(60 * MICRO))


@pytest.mark.parametrize("by", ["by_line", "by_op", "by_kind", "by_scope", "by_kernel"])
def test_tables_add_up_to_the_call_and_count_loops_as_often_as_they_run(by: str) -> None:
    """Of the all-reduce the 15 of 20 µs that nothing hides; what is drawn once of four iterations counts four times."""
    table = getattr(made(loops=(LOOP,)), by)()
    assert sum(table["busy"]) == pytest.approx(142 * MICRO) and sum(table["share"]) == pytest.approx(1)
    if by == "by_line":
        rows = {row["line"]: row["busy"] for row in table.rows()}
        assert rows == pytest.approx({"train.py:5": 60 * MICRO, "train.py:4": 60 * MICRO, "train.py:3": 22 * MICRO})


def test_gaps_are_times_without_computation_and_name_what_is_waited_for() -> None:
    [gap] = made().gaps().rows()
    assert (gap["start"], gap["duration"]) == (pytest.approx(20 * MICRO), pytest.approx(15 * MICRO))
    assert (gap["waits for"], gap["line"]) == ("all-reduce.1", "train.py:5")


def test_a_gap_names_the_work_that_could_hide_its_collective() -> None:
    """dot.4 needs nothing of it and hides nothing; of a loop the time is that of one iteration, as the gap is."""
    for loops in ((), (LOOP,)):
        [gap] = made(loops=loops).gaps().rows()
        assert (gap["could hide"], gap["at"]) == (pytest.approx(12 * MICRO), "train.py:3")


def test_a_gap_in_which_nothing_runs_says_so() -> None:
    table = predicted_timeline([Planned("dot.1", 0, 10), Planned("dot.2", 30, 10)]).gaps()
    assert table.figure((0, "waits for")).reason == wording.NOTHING_RUNS
    assert table.figure((0, "could hide")).reason == exposed_wording.NOT_A_COLLECTIVE
    assert predicted_timeline([Planned("dot.1", 0, 10)]).gaps().notes == (wording.NO_GAPS,)


def test_it_is_never_told_as_what_was_measured() -> None:
    text = str(made(loops=(LOOP,)))
    assert text.startswith("Predicted for h100:8, nothing ran: ")
    said = text.replace("nothing ran", "").replace(wording.LEFT_OUT, "")
    assert not re.search(r"profile|recorded|idles?\b| ran\b|\bhost\b", said)
    assert side(made().recording, made().work, made().by_line()).mode is TimesOf.ESTIMATES


def test_what_was_measured_is_told_as_before() -> None:
    measured = recording([Event("a", "dot.1", 0, 10, EventKind.KERNEL, op=("jit_f", "dot.1"))])
    built = Timeline(measured, places(measured, {}))
    assert not built.is_predicted and built.headline.predicted is None and built.notes == ()


def test_without_any_work_it_says_so() -> None:
    assert wording.NO_WORK in str(predicted_timeline([]))


def test_of_a_collective_without_a_time_nothing_is_claimed() -> None:
    planned = [Planned("dot.1", 0, 10, line=3)]
    timeline = predicted_timeline(planned, seconds=None, exposed=None, unknown=("all-reduce-start.1",))
    said = str(timeline)
    assert wording.UNKNOWN_EXPOSED in said and "No collective is exposed" not in said
    assert "takes the most of the known time" in said
    assert timeline.exposed().notes == (wording.left_out(("all-reduce-start.1",)),)


def test_a_call_that_is_mostly_our_bound_says_so_at_once() -> None:
    assert "of which 100 µs is only our lower bound" in str(made(weighted=100 * MICRO)).split("\n")[0]
    assert "lower bound" not in str(made(weighted=10 * MICRO)).split("\n")[0]


def test_a_collective_is_called_what_the_module_says_it_is_whatever_its_name() -> None:
    planned = [Planned("dot.1", 0, 10, line=3), all_reduce("fusion-start.1", 10, 20, line=5)]
    assert [one.kind for one in predicted_timeline(planned).headline.predicted.exposed] == ["all-reduce"]
    assert [one.kind for one in predicted_timeline(planned, has_module=False).headline.predicted.exposed] == [
        "collective"
    ]
