"""The estimated time of a call as every view has it, beside our bound and what was measured."""

from __future__ import annotations

import contextlib

from jaxstage_ext.core.recompile import recompiled_schedule
from jaxstage_ext.profiling.predictions import predicted_timeline_wording as wording
from jaxstage_ext.profiling.predictions.predicted_headline import PredictedHeadline
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.program.predicting.chosen_timeline import can_be_predicted
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.predicted import predicted
from jaxstage_ext.report.figure import Figure
from jaxstage_ext.report.prediction import Estimator, Prediction

MOST_INSTRUCTIONS = 5_000
"""Instructions up to which a schedule that came with the compile is read unasked, in a fiftieth of the compile's time;
a training step of four flax layers has 2,300.
"""


def cheap_prediction(program: Program) -> Timeline | None:
    """The predicted timeline if it is known, or takes milliseconds; None otherwise. Compiles nothing."""
    found = _tried(program)
    return None if isinstance(found, str) else found


def read_at_hand(program: Program) -> None:
    """Read the schedule that came with the compile, however large it is: for those who asked, and wait."""
    if can_be_predicted(program) and _is_at_hand(program):
        with contextlib.suppress(ValueError, RuntimeError, OSError):  # whose reason stands where a time would
            predicted(program)


def why_not_predicted(program: Program) -> str:
    """Why no time is estimated, or what makes the estimate where nobody has asked for it yet; "" where one is."""
    found = _tried(program)
    return found if isinstance(found, str) else ""


def _tried(program: Program) -> Timeline | str:
    """The predicted timeline, if it is known or takes milliseconds; else why there is none."""
    if (known := predicted.known(program)) is not None:
        return known
    if not can_be_predicted(program):
        return wording.NO_ESTIMATE
    if len(program.module.names) > MOST_INSTRUCTIONS or not _is_at_hand(program):
        return wording.NEEDS_COMPUTING
    try:
        return predicted(program)
    except (ValueError, RuntimeError, OSError) as error:
        return str(error) or type(error).__name__


def _is_at_hand(program: Program) -> bool:
    """Whether nothing is compiled for it: a TPU's module has the cycles of its instructions."""
    return program.platform == "tpu" or recompiled_schedule.is_at_hand(program.staged)


def known_prediction(program: Program) -> Prediction | None:
    """What is predicted of a program, where that is known or takes milliseconds."""
    known = cheap_prediction(program)
    return known.recording.prediction if known is not None else None


def known_headline(program: Program) -> PredictedHeadline | None:
    """The headline of a program's prediction, where that is known or takes milliseconds."""
    known = cheap_prediction(program)
    return known.headline.predicted if known is not None else None


def said_of_exposed(program: Program) -> str:
    """What XLA's schedule says of exposed collectives, where it is known; our own estimate takes our own bounds."""
    headline = known_headline(program)
    if headline is None or headline.prediction.estimator is not Estimator.XLA:
        return ""
    return wording.estimate_of_exposed(headline)


def time_estimate(program: Program) -> Figure:
    """The estimated seconds of a call; unknown, with the reason, where nothing estimates it or nobody has asked yet.

    Our own has a text, so that it is not ranked among XLA's.
    """
    if (prediction := known_prediction(program)) is None:
        return Figure(None, why_not_predicted(program))
    if prediction.seconds is None:
        return Figure(None, wording.PARTLY_UNKNOWN)
    text = "" if prediction.estimator is Estimator.XLA else wording.own(prediction.seconds)
    return Figure(prediction.seconds, remark=wording.basis(prediction), text=text)
