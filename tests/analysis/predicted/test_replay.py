"""Calls made by hand, and when their steps run by pencil and paper."""

from __future__ import annotations

from jaxstage_ext.analysis.predicted import predicted_recording
from jaxstage_ext.analysis.predicted.predicted_steps import CallStep, EstimateSource, Role, Stream
from jaxstage_ext.analysis.predicted.replay import Replayed, replay


def work(name: str, cost: float, by: EstimateSource = EstimateSource.XLA) -> CallStep:
    return CallStep(0, name, cost=cost, by=by)


def begin(name: str, cost: float = 1.0) -> CallStep:
    return CallStep(0, f"{name}-start", Role.BEGIN, cost=cost)


def end(name: str, begun: int, latency: float, stream: Stream = Stream.COLLECTIVE, **fields: object) -> CallStep:
    return CallStep(0, f"{name}-done", Role.END, stream, 1.0, begun=begun, latency=latency, **fields)  # type: ignore[arg-type]


def spans(made: Replayed) -> dict[str, tuple[float, float]]:
    return {one.step.name: (one.start, one.end) for one in made.drawn if not one.is_marker}


def test_what_work_hides_of_a_collective_is_not_waited_for() -> None:
    made = replay([work("a", 10), begin("r"), work("b", 30), end("r", 1, 100), work("c", 5)])
    assert spans(made) == {"a": (0, 10), "r-start": (11, 110), "b": (11, 41), "c": (111, 116)}
    assert made.total == 116 and made.exposed == 69 and made.weighted == 0


def test_a_hidden_collective_ends_when_it_is_done_and_not_where_it_is_asked_for() -> None:
    made = replay([begin("r"), work("b", 30), end("r", 0, 11)])
    assert spans(made)["r-start"] == (1, 11) and made.exposed == 0 and made.total == 32


def test_one_whose_time_is_not_told_is_drawn_to_its_end() -> None:
    made = replay([begin("r"), work("b", 30), end("r", 0, 0, at_most=31)])
    assert spans(made)["r-start"] == (1, 31) and made.exposed == 0


def test_of_two_at_once_the_second_is_waited_for_what_is_left() -> None:
    made = replay([begin("r"), begin("s"), work("b", 20), end("r", 0, 50), end("s", 1, 60), work("c", 1)])
    assert spans(made)["r-start"] == (1, 50) and spans(made)["s-start"] == (2, 61)
    assert made.exposed == (50 - 22) + (61 - 51) and made.total == 63


def test_the_time_of_a_beginning_is_cut_to_whole_microseconds_as_xla_does() -> None:
    made = replay([work("a", 0.75), begin("r"), end("r", 1, 10)])
    assert made.exposed == 10 - (2.75 - 1) and made.total == 2.75 + made.exposed


def test_one_iteration_of_a_loop_is_drawn_and_all_count() -> None:
    body = (work("dot", 10), begin("r"), end("r", 1, 21), work("add", 2, EstimateSource.BOUND))
    loop = CallStep(3, "while", Role.LOOP, body=body, count=12)
    made = replay([work("a", 5), loop, work("b", 5)])
    assert made.total == 5 + 12 * 34 + 5 and made.exposed == 12 * 20 and made.weighted == 24
    assert spans(made)["b"] == (39, 44)
    (drawn,) = made.loops
    assert (drawn.start, drawn.end, drawn.count, drawn.seconds) == (5, 39, 12, 34)


def test_loops_in_loops_count_as_often_as_both_run() -> None:
    inner = CallStep(2, "inner", Role.LOOP, body=(work("dot", 10),), count=4)
    outer = CallStep(3, "outer", Role.LOOP, body=(inner, work("add", 2)), count=3)
    made = replay([outer])
    assert made.total == 3 * 42 and [(one.step.name, one.seconds) for one in made.loops] == [
        ("inner", 10),
        ("outer", 42),
    ]
    assert {one.step.name: one.times for one in made.drawn} == {"dot": 12, "add": 3}


def test_a_collective_across_a_loop_is_hidden_by_all_of_its_iterations() -> None:
    loop = CallStep(3, "while", Role.LOOP, body=(work("dot", 10),), count=12)
    made = replay([begin("r"), loop, end("r", 0, 101)])
    assert made.exposed == 0 and made.total == 122


def test_a_branch_is_drawn_around_what_it_runs_and_is_no_loop() -> None:
    branch = CallStep(3, "conditional", Role.LOOP, body=(work("dot", 10),), branches=2)
    made = replay([branch, work("add", 2)])
    assert made.total == 12 and [(one.step.name, one.start, one.end) for one in made.loops] == [("conditional", 0, 10)]
    assert predicted_recording.loops(made) == ()


def test_a_loop_of_unknown_length_leaves_the_total_unknown() -> None:
    assert not replay([CallStep(3, "while", Role.LOOP, body=(work("dot", 10),), count=None)]).is_known
    assert replay([CallStep(3, "while", Role.LOOP, body=(work("dot", 10),), count=0)]).total == 0


def test_our_own_bound_is_waited_for_to_the_fraction_of_a_microsecond() -> None:
    made = replay(
        [work("a", 0.75), begin("r", 0), CallStep(0, "done", Role.END, Stream.COPY, 0, EstimateSource.BOUND, 1, 10)]
    )
    assert spans(made)["r-start"] == (0.75, 10.75) and made.total == 10.75
