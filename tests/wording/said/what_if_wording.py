"""What sets of XLA flags change."""

from types import SimpleNamespace

from wordings import constants

from jaxstage_ext.program.comparing import what_if_wording as wording
from jaxstage_ext.program.comparing.what_if_row import ScheduleCounts, TrialEnd
from jaxstage_ext.report.prediction import Estimator


def _row(label: str, seconds: float | None, counts: ScheduleCounts | None, **more: object) -> SimpleNamespace:
    row = SimpleNamespace(label=label, seconds=seconds, counts=counts, program=object(), why="", end=TrialEnd.COMPILED)
    row.prediction = SimpleNamespace(target="h100:8", estimator=Estimator.XLA)
    row.why_no_estimate = "XLA estimates no schedule for cpu:8"
    row.is_comparable, row.options, row.is_same_as = True, {"xla_gpu_async_dot": True}, lambda base: False
    vars(row).update(more)
    return row


BASE = _row(wording.BASE, 6.45e-3, ScheduleCounts({"all-reduce": 1}, 0, 19))
APART = _row("gpu_apart=True", 5.1e-3, ScheduleCounts({"all-reduce": 3, "all-gather": 1}, 3, 16))
ALIKE = _row("gpu_alike=True", 6.45e-3, BASE.counts)
BOUND = _row("cpu", None, BASE.counts)
SAID = {
    **constants(wording),
    "more collectives": wording.changed(APART, BASE),
    "as many": wording.changed(ALIKE, BASE),
    "same": wording.changed(_row("", 1.0, BASE.counts, is_same_as=lambda base: True), BASE),
    "estimated otherwise": wording.changed(_row("", 1.0, APART.counts, is_comparable=False), BASE),
    "failed": wording.changed(_row("", None, None, program=None, why="XLA refused it"), BASE),
    "not tried": wording.changed(_row("", None, None, program=None, end=TrialEnd.NO_TIME), BASE),
    "best": wording.headline([BASE, APART, ALIKE], BASE),
    "none": wording.headline([BASE, ALIKE], BASE),
    "no estimate": wording.headline([BOUND], BOUND),
    "code": wording.apply(APART),
    "unknown": wording.unknown_flags(["xla_gpu_async_dot"]),
    "one left": wording.not_tried(1),
    "two left": wording.not_tried(2),
    "base fails": wording.not_compiled("no room"),
}
