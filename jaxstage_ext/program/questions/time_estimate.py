"""The estimated time of a call as every view has it: beside our bound and what was measured, and never mixed with them."""

from __future__ import annotations

from jaxstage_ext.profiling.predictions import predicted_timeline_wording as wording
from jaxstage_ext.profiling.predictions.predicted_headline import PredictedHeadline
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.chosen_timeline import can_be_predicted
from jaxstage_ext.program.questions.predicted import predicted
from jaxstage_ext.report.figure import Figure
from jaxstage_ext.report.prediction import Prediction


def known_prediction(program: Program) -> Prediction | None:
    """What is predicted of a program, if it is known by now. Computes nothing."""
    known = predicted.known(program)
    return known.recording.prediction if known is not None else None


def known_headline(program: Program) -> PredictedHeadline | None:
    """The headline of a program's prediction, if that is known by now."""
    known = predicted.known(program)
    return known.headline.predicted if known is not None else None


def time_estimate(program: Program) -> Figure:
    """The estimated seconds of a call; unknown, with the reason, where nothing estimates it or nobody has asked yet."""
    if (prediction := known_prediction(program)) is None:
        return Figure(None, wording.NEEDS_COMPUTING if can_be_predicted(program) else wording.NO_ESTIMATE)
    if prediction.seconds is None:
        return Figure(None, wording.PARTLY_UNKNOWN)
    return Figure(prediction.seconds, remark=wording.basis(prediction))
