"""What stands above the lanes: the headline, how much of the profile is shown, what is missing, each device's time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jaxstage_ext.panel import jobs
from jaxstage_ext.panel import params as given
from jaxstage_ext.panel.params import Answer, Method, Params, Programs
from jaxstage_ext.panel.requests.forms.timeline_params import timeline_of
from jaxstage_ext.panel.requests.timeline_table_requests import OF_DEVICE_WORK, TABLES
from jaxstage_ext.profiling.analysis import timeline_facts, timeline_wording
from jaxstage_ext.profiling.predictions import predicted_timeline_wording as predicted_wording
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.program.head import capture_wording
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.tab.tab_requests import PREDICTED_TABLES

MOST_DEVICES, MOST_LOSSES = 64, 50


def _get_head(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    timeline = timeline_of(programs, params, progress)
    progress("finding what takes the time")
    recording = timeline.recording
    return {
        "predicted": predicted_wording.banner(prediction) if (prediction := recording.prediction) else "",
        "headline": timeline_wording.findings_of_prediction(timeline.headline)
        or timeline_wording.sentence(timeline.headline),
        "kept": timeline.coverage,
        "losses": [
            {"text": timeline_wording.loss(lost)[:300], "count": lost.count} for lost in recording.lost[:MOST_LOSSES]
        ],
        "modes": [*timeline_facts.modes(timeline), *_of_the_capture(given.program(programs, params), timeline)],
        "window": timeline_facts.window_text(timeline),
        "devices": [_device(row) for row in timeline.busy().rows()][:MOST_DEVICES],
        "notes": list(timeline.notes),
        "tables": _tables(timeline),
        "events": len(timeline.columns),
    }, []


def _of_the_capture(program: Program, timeline: Timeline) -> list[str]:
    is_captured = program.captured is not None and not timeline.is_predicted
    return capture_wording.small_print(program.captured) if is_captured and program.captured else []


def _device(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": str(row["device"])[:200],
        "busy": row["busy"],
        "idle": row["idle"],
        "exposed": row["exposed collective"],
        "window": row["window"],
        "about": timeline_facts.device_text(row),
    }


def _tables(timeline: Timeline) -> list[str]:
    """The tables that have rows; of a profile without any, those that say why.

    Those by line and by HLO instruction are left out where none is known of a profile's kernels, as of PyTorch's.
    """
    if timeline.is_predicted:
        return list(PREDICTED_TABLES)
    has_ranges, has_work = bool(len(timeline.by_range())), bool(len(timeline.work))
    empty = {"compiles": not len(timeline.compiles()), "steps": not len(timeline.steps()), "ranges": not has_ranges}
    empty |= {"waits": not len(timeline.waits()), "exposed": True}
    if timeline.opens_with in ("ops", "kernels"):
        empty |= {"lines": True, "ops": timeline.opens_with == "kernels"}
    if has_ranges and not has_work:
        empty |= dict.fromkeys(OF_DEVICE_WORK, True)
    return [name for name in TABLES if not empty.get(name)]


METHODS: dict[str, Method] = {"timeline head": jobs.slow(_get_head)}
