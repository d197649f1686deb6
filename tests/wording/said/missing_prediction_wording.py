"""Why there is no predicted timeline."""

from wordings import constants

from jaxstage_ext.analysis.predicted import missing_prediction_wording as wording
from jaxstage_ext.analysis.predicted.missing_prediction_wording import NotPredicted

WHAT = {
    NotPredicted.NO_SCHEDULER: "a100:8",
    NotPredicted.FLAG: wording.SCHEDULER_FLAG,
    NotPredicted.NO_CLOCK: "v6e:2x4",
    NotPredicted.WEIGHTS: "b300:8",
    NotPredicted.LARGE: "268,435,457",
    NotPredicted.UNREADABLE: "it is damaged or cut off",
}
SAID = {**constants(wording), **{kind.value: wording.why(kind, WHAT.get(kind, "")) for kind in NotPredicted}}
