"""What a timeline's figures are of: which clock and mode, which window, how long each device is busy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jaxstage_ext.profiling.analysis import steps as step_table
from jaxstage_ext.profiling.predictions import predicted_timeline_wording as predicted_wording
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.profiling.xplane import module_runs
from jaxstage_ext.report.recording import SECOND, EventKind
from jaxstage_ext.report.text.units import duration, plural

_FORMATS = {
    "xplane": "recorded by XLA's profiler",
    "chrome": "read from a Chrome trace",
    "mosaic": "recorded by a Mosaic GPU kernel on the device",
}


def modes(timeline: Timeline) -> list[str]:
    """Where the times come from, one sentence each."""
    recording = timeline.recording
    if recording.prediction is not None:
        return [predicted_wording.mode(recording.prediction)]
    kinds = set(recording.events.kind[timeline.work.event].tolist())
    shown = [_FORMATS.get(recording.format, recording.format)]
    if EventKind.KERNEL in kinds:
        shown.append("device time of kernels")
    elif EventKind.OP in kinds:
        shown.append("time of HLO ops")
    return ["; ".join(shown)]


def window_text(timeline: Timeline) -> str:
    """`device busy 4.2 ms of 6.1 ms; 1 step, 3 runs of XLA modules`; of several devices device-seconds.

    A cell that is profiled once is one step, whatever loop is in it.
    """
    times = timeline.device_times
    if not times:
        return ""
    if timeline.is_predicted:
        return predicted_wording.window(times[0].length / SECOND, times[0].compute.total / SECOND)
    busy, window = (sum(row[name] for row in timeline.busy().rows()) for name in ("busy", "window"))
    if len(times) == 1:
        of_devices = f"device busy {duration(busy)} of {duration(window)}"
    else:
        of_devices = (
            f"{len(times):,} devices busy {duration(busy)} of {duration(window)} of device time (device-seconds)"
        )
    steps = len(step_table.rows_of(timeline.recording))
    names, _, _ = module_runs.runs(timeline.recording, timeline.work)
    counted = [plural(steps, "step")] if steps else []
    counted += [f"{plural(len(names), 'run')} of XLA modules"] if len(names) not in (0, steps) else []
    return "; ".join(filter(None, [of_devices, ", ".join(counted)]))


def device_text(row: Mapping[str, Any]) -> str:
    """The parts of a device's time, of a row of `Timeline.busy`."""
    parts = [
        f"{name} {duration(row[name])}"
        for name in ("compute", "copy", "collective", "exposed copy", "exposed collective")
        if row[name]
    ]
    if row["parallelism"] is not None and row["parallelism"] > 1.005:
        parts.append(f"on average {row['parallelism']:.3g} events run at once while it is busy")
    return ", ".join(parts)
