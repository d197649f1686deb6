"""The offline page of a profile: a coarse picture of its timeline, as text and bounded in size."""

from __future__ import annotations

import json
import re

from jaxstage_ext.panel.showing.page import page_html
from jaxstage_ext.panel.showing.shown_timeline import recorded
from jaxstage_ext.profiling.op_places import without_places
from jaxstage_ext.profiling.timeline import Timeline
from tests.helpers.recordings import Event, recording


def test_the_page_holds_a_coarse_picture_and_no_more() -> None:
    names = [f"</script><script>alert({i})</script>" for i in range(3)]
    made = recording([Event(f"Stream #{i % 90}", names[i % 3], i / 100, 0.005) for i in range(20_000)])
    html = page_html([recorded(Timeline(made, without_places(made))).program])
    found = re.search(r'id="jaxstage-data">(.*?)</script>', html, re.DOTALL)
    assert found
    (report,) = json.loads(found[1])
    assert "timeline" in report["summary"]["views"]
    reply = report["replies"]["timeline {}"]
    assert len(reply["result"]["lanes"]) == 90
    assert len(reply["result"]["picture"]["lanes"]) == 60
    assert len(json.dumps(reply)) < 1_500_000
