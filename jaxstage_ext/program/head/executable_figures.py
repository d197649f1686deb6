"""The figures that every view heads a program with: those of its cost, its memory and its device."""

from __future__ import annotations

from jaxstage_ext.analysis.cost import cost_wording
from jaxstage_ext.analysis.cost.work_range import WorkRange
from jaxstage_ext.profiling.predictions.predicted_timeline_wording import NAMES
from jaxstage_ext.program.device.device_figures import device_memory
from jaxstage_ext.program.device.device_fit import device_fit
from jaxstage_ext.program.head.summary_form import FigureSummary, labelled
from jaxstage_ext.program.predicting.time_estimate import known_prediction, time_estimate
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.module_work import share_on_chip, share_on_host, work
from jaxstage_ext.report.figure import Figure
from jaxstage_ext.report.text.units import duration, scaled
from jaxstage_ext.report.unavailable import Unavailable

NEEDED = "arguments, results, temporaries and constants on one device, as XLA allocates them"
_COUNTED = "one run on one device, counted on the optimised HLO, loops as often as they run"
_FUNCTIONS = "exp, tanh, sine and the like, which XLA and JAXStage do not count as FLOPs; one takes tens of operations"


def executable_figures(program: Program) -> list[FigureSummary]:
    """FLOPs, bytes moved and memory as Cost and Memory have them; "unknown" with the reason where they have none."""
    return [*_work(program), *_estimate(program), _needed(program), *_capacity(program)]


def _work(program: Program) -> list[FigureSummary]:
    try:
        counted = work(program)
    except Unavailable as why:
        return [labelled(label, Figure(None, str(why))) for label in ("FLOPs", "bytes moved")]
    flops, functions = _range("FLOPs", counted.flops_range, "FLOP"), counted.total_transcendentals
    beside = []
    if cost_wording.are_noted(functions, counted.flops_range):
        noted = Figure(cost_wording.transcendentals(functions), remark=_FUNCTIONS)
        beside.append(labelled("transcendentals", noted))
    moved = _range(
        "bytes moved", counted.bytes_range, "B", cost_wording.stays(share_on_chip(program), share_on_host(program))
    )
    return [flops, *beside, moved]


def _range(label: str, work: WorkRange, unit: str, beside: str = "") -> FigureSummary:
    why = cost_wording.work_reasons(work, unit)
    if work.is_unknown:
        return labelled(label, Figure(None, why))
    counted = f"{_COUNTED}{beside}{f'; {why}' if why else ''}"
    return labelled(label, Figure(cost_wording.work(work, unit), remark=counted))


def _estimate(program: Program) -> list[FigureSummary]:
    """The estimated time of a call, once it is known."""
    if (prediction := known_prediction(program)) is None:
        return []
    figure = time_estimate(program)
    shown = figure if figure.value is None else Figure(duration(float(figure.value)), remark=figure.remark)
    return [labelled(NAMES[prediction.estimator], shown)]


def _needed(program: Program) -> FigureSummary:
    fit = device_fit(program)
    if fit.needed is None:
        return labelled("memory needed", Figure(None, fit.reason))
    return labelled("memory needed", Figure(scaled(fit.needed, "B"), remark=f"{NEEDED}. {fit.text}"))


def _capacity(program: Program) -> list[FigureSummary]:
    """The memory of a device that is not here."""
    device = device_memory(program)
    if not program.target.kind or device.memory is None:
        return []
    return [labelled(f"{program.target.kind} memory", Figure(scaled(device.memory, "B"), remark=f"of {device.title}"))]
