"""What a predicted timeline says of itself."""

from predicted_recordings import prediction
from recordings import recording
from wordings import constants

from jaxstage_ext.profiling.predictions import predicted_timeline_wording as wording
from jaxstage_ext.profiling.predictions.call_line import CallLine
from jaxstage_ext.profiling.predictions.predicted_headline import ExposedLine, PredictedHeadline
from jaxstage_ext.report.prediction import Estimator, Means, PredictedLoop, Prediction

KNOWN = prediction(seconds=6.45e-3, exposed=2.19e-3)
PARTLY = prediction()
NO_TIME = prediction(unknown=("all-reduce-start.1",))
BOUNDED = prediction(seconds=480e-6, weighted=429e-6)
OWN = Prediction(Estimator.OWN, Means.UNKNOWN, "v5e:2x4", 6.45e-3, 1.0)
NETWORK = prediction(seconds=31.4e-3, network="XLA's default network")
EVERY = (
    KNOWN,
    PARTLY,
    BOUNDED,
    OWN,
    NETWORK,
    *(Prediction(Estimator.XLA, means, "b200:8", 1e-3, 1.0) for means in Means),
)
FIRST = ExposedLine("In [2]:31", "all-reduce", 1, 1.8e-3, "In [2]:40", 1.2e-3)
SEVERAL = ExposedLine("", "all-gather", 3, 0.39e-3)
LOOPS = tuple(PredictedLoop(f"while.{count}", count, 1e-3) for count in (12, None, 3, 4, 5))
HEADLINES = (
    PredictedHeadline(KNOWN, CallLine("In [2]:31", 3e-3), (FIRST, SEVERAL)),
    PredictedHeadline(KNOWN, None, (SEVERAL,)),
    PredictedHeadline(KNOWN, None, (FIRST,)),
    PredictedHeadline(KNOWN),
    PredictedHeadline(prediction(seconds=1e-3, exposed=0.0)),
    PredictedHeadline(PARTLY, CallLine("In [2]:31", 3e-3)),
    PredictedHeadline(NO_TIME, CallLine("In [2]:31", 3e-3)),
)

SAID = {
    **constants(wording),
    "banner": [wording.banner(one) for one in EVERY],
    "basis": [wording.basis(one) for one in EVERY],
    "estimate": [wording.estimate(one) for one in EVERY],
    "longest": [wording.longest(one) for one in HEADLINES],
    "exposed": [wording.exposed(one) for one in HEADLINES],
    "exposed, in an answer": [wording.estimate_of_exposed(one) for one in HEADLINES],
    "notes": list(
        wording.notes(
            prediction(matched=0.93, weighted=5e-6, network="XLA's default", unknown=("a.1", "b.2"), loops=LOOPS)
        )
    ),
    "notes, nothing unusual": list(wording.notes(KNOWN)),
    "notes, of our own": list(wording.notes(Prediction(Estimator.OWN, Means.UNKNOWN, "v5e:2x4", 1e-3, 1.0, 5e-6))),
    "our own": wording.own(532e-6),
    "mode": wording.mode(KNOWN),
    "part": [wording.part(recording([], title="step", prediction=KNOWN)), wording.part(recording([], title="step"))],
    "coverage": [wording.coverage(1, 0.0, False), wording.coverage(12, 0.97, True)],
    "window": wording.window(6.1e-3, 4.2e-3),
}
