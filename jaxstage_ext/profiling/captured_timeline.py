"""From a capture to a Timeline."""

from __future__ import annotations

from jaxstage_ext.profiling import xplane
from jaxstage_ext.profiling.added_lanes import with_lanes
from jaxstage_ext.profiling.capture import Capture
from jaxstage_ext.profiling.event_limit import limited
from jaxstage_ext.profiling.op_places import without_places
from jaxstage_ext.profiling.sampled_lines import compile_lane, sampled_lane
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.report.recording import Recording


def recording_of(capture: Capture) -> Recording:
    """What was captured, on one clock, bounded."""
    read = xplane.read(capture.data, capture.title)
    lanes = [sampled_lane(capture.samples)] if capture.samples is not None else []
    return limited(with_lanes(read, [*lanes, compile_lane(capture.compiled)]), capture.options.limit)


def timeline_of(capture: Capture, program: object = None) -> Timeline:
    """What was captured, linked to source lines."""
    recording = recording_of(capture)
    return Timeline(recording, without_places(recording))
