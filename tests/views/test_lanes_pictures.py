"""The coarse pictures of a timeline: what is covered, what they hold, how large they get."""

from __future__ import annotations

import base64
import re
import xml.etree.ElementTree as xml
import zlib

import numpy as np
from helpers.recordings import MICROSECOND, Event, recording

from jaxstage_ext.profiling.op_places import without_places
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.report.recording import EventKind, EventLane, LaneKind
from jaxstage_ext.views.lane_strips import COLOURS, lane_strips
from jaxstage_ext.views.lanes_html import LARGEST, lanes_html
from jaxstage_ext.views.lanes_svg import lanes_svg
from tests.browser.payloads import PAYLOADS


def made(*events: Event, lanes: tuple[EventLane, ...] = ()) -> Timeline:
    recorded = recording(events, lanes)
    return Timeline(recorded, without_places(recorded))


def test_columns_are_covered_where_events_are() -> None:
    timeline = made(Event("a", "k", 0, 25), Event("a", "c", 75, 25, EventKind.COPY))
    (strip,), _ = lane_strips(timeline, 4)
    assert strip.level.tolist() == [3, 0, 0, 3]
    assert (strip.kind[0], strip.kind[3]) == (EventKind.OP, EventKind.COPY)


def test_a_window_shows_its_own_events() -> None:
    timeline = made(Event("a", "k", 0, 25), Event("a", "c", 75, 25, EventKind.COPY))
    (strip,), _ = lane_strips(timeline, 2, (50 * MICROSECOND, 100 * MICROSECOND))
    assert strip.level.tolist() == [0, 3]


def test_half_a_column_has_half_a_shade() -> None:
    (strip,), _ = lane_strips(made(Event("a", "k", 0, 5), Event("a", "k", 19, 1)), 2)
    assert strip.level.tolist() == [2, 1]


def test_lanes_with_device_work_are_kept() -> None:
    host = tuple(EventLane("host", f"h{i}", LaneKind.HOST) for i in range(40))
    events = [Event(lane.name, "wait", 0, 9, EventKind.WAIT) for lane in host]
    strips, left_out = lane_strips(made(*events, Event("s", "k", 0, 1), lanes=host), 10)
    assert len(strips) == 24 and left_out == 17
    assert strips[-1].name == "s"


def test_hidden_lanes_are_left_out() -> None:
    lane = EventLane("host", "h", LaneKind.HOST, hidden=True)
    assert lane_strips(made(Event("h", "x", 0, 1), lanes=(lane,)), 10) == ([], 0)
    assert lanes_html(made()) == ""


def test_every_kind_has_a_colour_in_the_order_of_the_palette() -> None:
    assert list(COLOURS) == list(EventKind)


def test_the_strip_in_the_page_has_the_colours_of_the_kinds() -> None:
    html = lanes_html(made(Event("a", "k", 0, 50), Event("a", "c", 50, 50, EventKind.COPY)))
    image = base64.b64decode(re.findall(r"base64,([^\"]+)", html)[0])
    data = image[image.index(b"IDAT") + 4 :]
    row = np.frombuffer(zlib.decompressobj().decompress(data), np.uint8)[1:]
    assert row[0] == EventKind.OP * 4 + 3 and row[-1] == EventKind.COPY * 4 + 3


def test_names_are_text() -> None:
    lanes = tuple(
        EventLane(text[:300], text[:300] + str(i), LaneKind.COMPUTE, 0) for i, text in enumerate(PAYLOADS.values())
    )
    timeline = made(*(Event(lane.name, lane.name, i, 100) for i, lane in enumerate(lanes)), lanes=lanes)
    html, svg = lanes_html(timeline), lanes_svg(timeline)
    for made_of in (html, svg):
        assert "<script" not in made_of and "<img id" not in made_of and "<iframe" not in made_of
    xml.fromstring(svg)
    assert {tag.split()[0] for tag in re.findall(r"<([a-z][^>]*)", html)} <= {"div", "table", "tr", "td", "img", "span"}


def test_both_are_small_for_many_events() -> None:
    rng = np.random.default_rng(0)
    starts = np.sort(rng.uniform(0, 1e6, 50_000))
    timeline = made(
        *(Event(f"l{i % 40}", "k" * 99, float(t), float(i % 7), EventKind(i % 13)) for i, t in enumerate(starts))
    )
    assert 1000 < len(lanes_html(timeline)) < LARGEST
    assert len(lanes_svg(timeline)) < 2_000_000
