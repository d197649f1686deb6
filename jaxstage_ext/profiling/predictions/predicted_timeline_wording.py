"""What a predicted timeline says in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jaxstage_ext.profiling.predictions.predicted_headline import ExposedLine, PredictedHeadline
from jaxstage_ext.report.prediction import Estimator, Means, PredictedLoop, Prediction
from jaxstage_ext.report.recording import Recording
from jaxstage_ext.report.text.shortened import some
from jaxstage_ext.report.text.units import duration, plural
from jaxstage_ext.report.text.units import share as percent

NAMES = {Estimator.XLA: "XLA's estimate", Estimator.OWN: "JAXStage's estimate"}
"""What the time of a call is called that each estimator gives."""
LEFT_OUT = (
    "It leaves out host gaps and launch overhead, stragglers, contention of two collectives, the input pipeline, and "
    "clocks below boost."
)
NEVER_COMPARED = "Never compared with a device."
NO_OP = "the schedule names no instruction of the module that is shown"
NO_LINE = "XLA gives no source line for it"
NO_WORK = "The schedule has no work of a device."
NO_GAPS = "Something is computed at all times."
NOTHING_RUNS = "nothing runs then"
NO_EVENT = "the schedule has no event of this instruction"
NEEDS_COMPUTING = (
    "The predicted timeline is not computed yet: open the Timeline tab, or ask .predicted of the inspection."
)
NO_ESTIMATE = "nothing estimates times for this device"
UNKNOWN_EXPOSED = "How long collectives are exposed is unknown: some have no known time."
PARTLY_UNKNOWN = "a part of the program has no estimate"
_MEANS = {
    Means.TABLES: ", by tables of measured matmuls and collectives",
    Means.ANALYTICAL: ", by a formula alone",
    Means.UNKNOWN: "; by what means is unknown",
}
_NOT_ESTIMATED = {
    Estimator.XLA: "for these instructions XLA's schedule has no time, or only a weight for its order",
    Estimator.OWN: "for these instructions XLA estimates no cycles",
}
_MATCHED = 0.99
_WORTH_SAYING = 0.005
_MUCH = 0.1
"""The share of a call from which on it is said at once that it is no estimate but a bound."""
_MOST_NAMED = 3


def banner(prediction: Prediction) -> str:
    """`Predicted for h100:8, nothing ran: XLA's latency-hiding scheduler estimates 6.45 ms a call, by tables of …`."""
    head = f"Predicted for {prediction.target}, nothing ran"
    if prediction.seconds is None:
        takes = "how long a call takes is unknown"
        if prediction.estimator is Estimator.XLA:
            takes += ", since XLA's schedule leaves a part of it out"
    elif prediction.estimator is Estimator.XLA:
        takes = f"{prediction.estimator.value} estimates {duration(prediction.seconds)} a call"
        takes += _by(prediction)
    else:
        takes = f"{duration(prediction.seconds)} a call, put together by {prediction.estimator.value}"
    return f"{head}: {takes}. {NEVER_COMPARED}"


def basis(prediction: Prediction) -> str:
    """By what an estimate was made, and that nothing checked it."""
    by = prediction.estimator.value if prediction.estimator is Estimator.OWN else "its latency-hiding scheduler"
    network = f"; between hosts it assumes {prediction.network}" if prediction.network else ""
    means = _MEANS[prediction.means] if prediction.estimator is Estimator.XLA else ""
    return f"of one call on one device, by {by}{means}{network}. {NEVER_COMPARED} {LEFT_OUT}"


def estimate(prediction: Prediction) -> str:
    """`XLA's estimate: 6.45 ms a call, by tables of measured matmuls and collectives.`"""
    name = NAMES[prediction.estimator]
    if prediction.seconds is None:
        return f"{name} is unknown: {PARTLY_UNKNOWN}."
    means = _by(prediction) if prediction.estimator is Estimator.XLA else ""
    return f"{name}: {duration(prediction.seconds)} a call{means}; never compared with a device."


def _by(prediction: Prediction) -> str:
    """By what XLA's estimate is, and how much of the call is only our bound where that is much of it."""
    means = _MEANS[prediction.means]
    if not prediction.seconds or prediction.weighted < _MUCH * prediction.seconds:
        return means
    return f", of which {duration(prediction.weighted)} is only our lower bound, the rest{means.lstrip(',')}"


def longest(headline: PredictedHeadline) -> str:
    """The line that makes most of a call, its computation and exposed collectives; "" where none is known."""
    one, seconds = headline.longest, headline.prediction.seconds
    if one is None:
        return "Which line takes the time is unknown."
    if headline.prediction.unknown:
        return f"{one.line} takes the most of the known time: {duration(one.seconds)} of a call."
    share = f" ({percent(one.seconds / seconds)})" if seconds else ""
    return f"{one.line} takes the most: {duration(one.seconds)} of a call{share}, exposed collectives included."


def own(seconds: float) -> str:
    """An estimate of ours among those of XLA."""
    return f"{duration(seconds)} by JAXStage"


def exposed(headline: PredictedHeadline) -> str:
    """How long collectives are exposed, the line of most of it, and what could hide that; "" for nothing."""
    total, lines = exposed_seconds(headline), headline.exposed
    if total is None:
        return UNKNOWN_EXPOSED if headline.prediction.unknown else ""
    if not total:
        return "No collective is exposed."
    if not lines:
        return f"Exposed collectives take {duration(total)} a call."
    first = f"{_collective(lines[0])} {duration(lines[0].seconds)}"
    if len(lines) == 1:
        verb = "is" if lines[0].count == 1 else "are"
        said = f"{_collective(lines[0])} {verb} exposed for {duration(lines[0].seconds)} a call"
        return f"{said[0].upper()}{said[1:]}{_hiding(lines[0])}."
    return f"Exposed collectives take {duration(total)} a call, {first}{_hiding(lines[0])}."


def estimate_of_exposed(headline: PredictedHeadline) -> str:
    """`By XLA's estimate …`, then what is exposed; "" for nothing."""
    said = exposed(headline)
    return f"By {NAMES[headline.prediction.estimator]}: {said[0].lower()}{said[1:]}" if said else ""


def exposed_seconds(headline: PredictedHeadline) -> float | None:
    """Seconds of a call in which collectives run that nothing hides: the estimator's own sum, else the lines'."""
    if headline.prediction.exposed is not None:
        return headline.prediction.exposed
    if headline.prediction.seconds is None:
        return None
    return sum(one.seconds for one in headline.exposed)


def _collective(one: ExposedLine) -> str:
    what = f"the {one.kind}" if one.count == 1 else f"the {plural(one.count, one.kind)}"
    return f"{what} of {one.line}" if one.line else f"{what} of an unknown line"


def _hiding(one: ExposedLine) -> str:
    if not one.independent_line or not one.independent:
        return ""
    work = f"{duration(one.independent)} of later work"
    return f"; {work}, most of it at {one.independent_line}, does not need the result"


def notes(prediction: Prediction) -> Iterator[str]:
    """What a prediction leaves out, assumes and does not know, a sentence each."""
    yield LEFT_OUT
    if prediction.network:
        yield f"Between hosts it assumes {prediction.network}."
    if prediction.matched < _MATCHED:
        yield (
            f"{percent(prediction.matched)} of the time is of instructions of the module that is shown; of the rest "
            "the line is unknown."
        )
    if prediction.weighted:
        why = _NOT_ESTIMATED[prediction.estimator]
        yield f"{duration(prediction.weighted)} of it is not an estimate but our lower bound: {why}."
    if prediction.unknown:
        yield left_out(prediction.unknown)
    for loop in prediction.loops[:_MOST_NAMED]:
        yield _loop(loop)
    if len(prediction.loops) > _MOST_NAMED:
        yield f"So it is for {plural(len(prediction.loops) - _MOST_NAMED, 'more loop')}."


def left_out(names: Sequence[str]) -> str:
    """How many instructions have no known time, and the first of them."""
    return f"{plural(len(names), 'instruction')} without a known time left out: {some(names, _MOST_NAMED)}."


def _loop(loop: PredictedLoop) -> str:
    if loop.count is None:
        return f"One iteration of {loop.name} is drawn, {duration(loop.seconds)}; how many there are is unknown."
    return f"One of {plural(loop.count, 'iteration')} of {loop.name} is drawn, {duration(loop.seconds)} each."


def part(recording: Recording) -> str:
    """A prediction among other timelines: `step, predicted for h100:8`."""
    target = recording.prediction.target if recording.prediction is not None else "nothing"
    return f"{recording.title}, predicted for {target}"


def mode(prediction: Prediction) -> str:
    """Whose estimates the times are."""
    return f"estimated by {prediction.estimator.value}"


def coverage(events: int, attributed: float, has_work: bool) -> str:
    """How many instructions are predicted, and how much of their time has a source line."""
    predicted = f"{plural(events, 'instruction')} predicted"
    return f"{predicted}, {percent(attributed)} of their time attributed to source lines" if has_work else predicted


def window(seconds: float, computes: float) -> str:
    """`computes 4.2 ms of the 6.1 ms drawn`."""
    return f"computes {duration(computes)} of the {duration(seconds)} drawn"
