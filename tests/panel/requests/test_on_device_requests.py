"""The timeline's requests of an on-device profile."""

from __future__ import annotations

import re

import pytest
from mosaic_buffers import TrueRange, TrueTrace, written

from jaxstage_ext.panel.params import BadRequest
from jaxstage_ext.panel.requests import dispatch
from jaxstage_ext.profiling.mosaic import mosaic_wording
from jaxstage_ext.profiling.mosaic.mosaic_spec import MosaicSpec
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.program.kinds.recorded_program import RecordedProgram
from jaxstage_ext.views.static_html import panel_html
from jaxstage_ext.views.text import panel_text

WORDS = written([TrueTrace(100, 4, (TrueRange(0, 1_000, 3_000),))], 16)
SPEC = MosaicSpec(16, ("load",), (1,), (128,), kernel="scale")


def program(sm_clock: float | None) -> RecordedProgram:
    return RecordedProgram(Timeline.from_mosaic(WORDS, SPEC, sm_clock))


def test_a_profile_in_cycles_is_not_drawn_as_time() -> None:
    with pytest.raises(BadRequest, match=re.escape(mosaic_wording.NOT_DRAWN)):
        dispatch.answer([program(None)], "timeline", {"call": 0})


def test_a_profile_of_a_known_clock_is_drawn() -> None:
    result, _ = dispatch.answer([program(1e9)], "timeline", {"call": 0})
    assert [lane["group"] for lane in result["lanes"]] == ["SM 4"] and result["events"] == 1


def test_the_head_states_the_clock_and_the_cost_of_recording() -> None:
    made = program(1e9)
    params = {"call": 0}
    while "pending" in (result := dispatch.answer([made], "timeline head", params)[0]):
        pass
    assert result["notes"] == list(mosaic_wording.notes(made.timeline.recording)) and "1 GHz" in result["notes"][0]


def test_still_forms_state_the_clock_and_draw_no_cycles() -> None:
    for form in (panel_text([program(1e9)]), panel_html([program(1e9)])):
        assert "1 GHz" in form
    without = program(None)
    in_cycles = panel_html([without])
    assert all(note in in_cycles for note in mosaic_wording.notes(without.timeline.recording))
    assert "data:image/png" not in in_cycles
    assert "data:image/png" in panel_html([program(1e9)])
