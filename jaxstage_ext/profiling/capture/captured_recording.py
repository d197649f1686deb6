"""From a capture to a Recording."""

from __future__ import annotations

from jaxstage_ext.profiling.capture.added_lanes import with_lanes
from jaxstage_ext.profiling.capture.capture import Capture
from jaxstage_ext.profiling.capture.event_limit import limited
from jaxstage_ext.profiling.capture.sampled_lines import compile_lane, sampled_lane
from jaxstage_ext.profiling.mosaic.mosaic_capture import captures_of
from jaxstage_ext.profiling.mosaic.mosaic_merge import with_on_device
from jaxstage_ext.profiling.xplane import xplane
from jaxstage_ext.report.recording import Recording


def recording_of(capture: Capture) -> Recording:
    """What was captured, on one clock, bounded."""
    on_device = captures_of(capture.on_device)
    read = with_on_device(xplane.read(capture.data, capture.title), on_device, capture.options.sm_clock)
    lanes = [sampled_lane(capture.samples)] if capture.samples is not None else []
    return limited(with_lanes(read, [*lanes, compile_lane(capture.compiled)]), capture.options.limit)
