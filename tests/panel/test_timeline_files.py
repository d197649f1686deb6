"""The files that a timeline writes of itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.recordings import Event, recording

from jaxstage_ext.panel.showing import shown_timeline
from jaxstage_ext.panel.showing.shown_timeline import ShownTimeline
from jaxstage_ext.profiling.analysis import timeline_wording
from jaxstage_ext.profiling.op_places import without_places
from jaxstage_ext.profiling.timeline import Timeline


@pytest.fixture
def shown() -> ShownTimeline:
    made = recording([Event("a", "first", 0, 100), Event("a", "second", 200, 100)])
    return shown_timeline.recorded(Timeline(made, without_places(made)))


def test_a_picture_of_all_and_of_a_part(shown: ShownTimeline, tmp_path: Path) -> None:
    shown.to_svg(tmp_path / "all.svg")
    shown.to_svg(tmp_path / "part.svg", end=150e-6)
    every, part = ((tmp_path / name).read_text() for name in ("all.svg", "part.svg"))
    assert ">first<" in every and ">second<" in every
    assert ">first<" in part and ">second<" not in part
    with pytest.raises(ValueError, match="end must come after the start"):
        shown.to_svg(tmp_path / "none.svg", 1, 0)


def test_an_offline_page(shown: ShownTimeline, tmp_path: Path) -> None:
    shown.to_html(tmp_path / "page.html")
    headline = shown.headline
    assert headline.op_share == 0.5 and timeline_wording.sentence(headline) in (tmp_path / "page.html").read_text()
