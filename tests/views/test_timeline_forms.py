"""The still forms of a timeline: what they say, what they hold, and how large they get."""

from __future__ import annotations

import re

from helpers.recordings import Event, recording

from jaxstage_ext.profiling.analysis import timeline_wording
from jaxstage_ext.profiling.op_places import without_places
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.program.kinds.recorded_program import RecordedProgram
from jaxstage_ext.report.recording import EventLane, LaneKind, Loss, Lost
from jaxstage_ext.views import timeline_forms
from jaxstage_ext.views.static_html import LARGEST, panel_html
from jaxstage_ext.views.text import panel_text
from tests.browser.payloads import PAYLOADS


def program(*events: Event, **fields: object) -> RecordedProgram:
    made = recording(events, **fields)
    return RecordedProgram(Timeline(made, without_places(made)))


def test_both_say_what_takes_the_time_and_what_is_missing() -> None:
    made = program(Event("a", "gemm", 0, 60), Event("a", "copy", 80, 20), lost=[Lost(Loss.DROPPED, 7)])
    html = panel_html([made])
    for form in (panel_text([made]), re.sub("<[^>]+>", "", html)):
        assert "gemm" in form and "75%" in form
        assert "7 events: the profiler dropped them" in form
        assert "kernel" in form and "60 µs" in form
        assert "idle for" in form and "20 µs" in form
    assert "data:image/png;base64," in html


def test_of_a_profile_without_events_they_say_so() -> None:
    made = program()
    assert all(timeline_wording.NO_DEVICE_WORK in form for form in (panel_text([made]), panel_html([made])))


def test_payloads_in_names_stay_text() -> None:
    texts = [text[:5000] for text in PAYLOADS.values()]
    lanes = tuple(EventLane(text, f"{text}{i}", LaneKind.COMPUTE, i) for i, text in enumerate(texts))
    events = [Event(lane.name, lane.group, i, 100, op=(lane.group, lane.group)) for i, lane in enumerate(lanes)]
    lost = [Lost(Loss.DROPPED, None, text) for text in texts]
    made = program(*events, lanes=lanes, lost=lost, title=texts[0])
    html = timeline_forms.html(made, 60_000)
    tags = {tag.split()[0].strip("/") for tag in re.findall(r"<(/?[a-zA-Z][^>]*)", html)}
    assert tags <= {"p", "b", "br", "span", "div", "table", "thead", "tr", "th", "td", "img", "details", "summary"}
    assert not re.search(r"[\x00-\x08\x1b\u202e\ud800-\udfff]", html + "\n".join(timeline_forms.text(made, 96)))
    assert all(
        re.fullmatch(r"data:image/png;base64,[A-Za-z0-9+/=]+", src) for src in re.findall(r'src="([^"]*)"', html)
    )


def test_the_html_is_as_small_as_asked_for() -> None:
    lanes = tuple(EventLane(f"GPU {i}", f"s{i}", LaneKind.COMPUTE, i) for i in range(40))
    made = program(*(Event(f"s{i % 40}", f"k{i}" * 30, i * 3 % 997, 2) for i in range(3000)), lanes=lanes)
    for most in (100, 2000, 12_000, 60_000):
        assert len(timeline_forms.html(made, most).encode()) <= most
    assert len(panel_html([made] * 6).encode()) <= LARGEST + 2000
