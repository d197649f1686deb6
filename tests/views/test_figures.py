"""Charts as plain plotly figures."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from made_costs import Device, Instruction, cost

from jaxstage_ext.analysis.cost import roofline
from jaxstage_ext.views.charts import figures

TWO = (Instruction("<dot>", "dot", 1000, 40, line="In [5]:2"), Instruction("add", "add", 10, 40, line=""))


def test_a_roofline_has_points_ceilings_and_the_verdict() -> None:
    figure = figures.roofline(roofline.read(cost(*TWO), Device(), "cpu"))
    named = {trace.name: trace for trace in figure.data}
    peaks = ["f32 matrix 100 FLOP/s", "f32 vector 100 FLOP/s", "bf16 matrix 1 kFLOP/s", "memory 10 B/s"]
    assert list(named) == [*peaks, "bound by compute", "bound by memory"]
    assert named["f32 vector 100 FLOP/s"].x[0] == 10, "the ridge"
    assert [float(named["bound by compute"].x[0]), float(named["bound by compute"].y[0])] == [25, 100]
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log"
    assert "Bound by compute" in figure.layout.title.text


def test_measured_points_stand_at_the_rate_they_reached() -> None:
    read = roofline.read(cost(*TWO), Device(), "cpu")
    figure = figures.roofline(replace(read, measured=np.array([20.0, np.nan])))
    (points,) = [trace for trace in figure.data if trace.name == "measured"]
    assert (points.x.tolist(), points.y.tolist()) == ([25.0], [50.0]), "1000 FLOP and 40 B in 20 s"
    assert points.text[0].endswith("measured: 20 s, 50 FLOP/s")
    assert "measured" not in [trace.name for trace in figures.roofline(read).data]


def test_a_hover_names_instruction_and_line_and_no_name_is_markup() -> None:
    figure = figures.roofline(roofline.read(cost(*TWO), Device(), "cpu"))
    texts = [text for trace in figure.data if trace.mode == "markers" for text in trace.text]
    assert texts[0].startswith("<b>&lt;dot&gt;</b><br>In [5]:2<br>1 kFLOP, 40 B, 25 FLOP/B<br>at least 10 s")
    assert "<br>source unknown<br>" in texts[1]


def test_the_more_bytes_the_larger() -> None:
    three = [Instruction(f"i{n}", "add", 10, n) for n in (1, 100, 10_000)]
    figure = figures.roofline(roofline.read(cost(*three), Device(), "cpu"))
    sizes = np.concatenate([trace.marker.size for trace in figure.data if trace.mode == "markers"])
    assert sorted(sizes)[-1] == pytest.approx(36)
    assert len(set(sizes.round(3))) == 3


@pytest.mark.parametrize(("n", "kind"), [(3000, "scatter"), (3001, "scattergl")])
def test_many_points_are_drawn_by_webgl(n: int, kind: str) -> None:
    many = [Instruction(f"i{i}", "add", 10, 40) for i in range(n)]
    figure = figures.roofline(roofline.read(cost(*many), Device(), "cpu"))
    assert [trace.type for trace in figure.data if trace.mode == "markers"] == [kind]


def test_a_device_without_peaks_gives_an_empty_chart_that_says_so() -> None:
    figure = figures.roofline(roofline.read(cost(*TWO), Device("a <toaster>", {}, None, {}), "cpu"))
    assert not figure.data
    assert "the peaks of a &lt;toaster&gt; are unknown" in figure.layout.title.text


def test_plotly_is_imported_when_a_figure_is_made() -> None:
    code = "import sys, jaxstage_ext.views.charts.figures; assert not [m for m in sys.modules if 'plotly' in m]"
    subprocess.run([sys.executable, "-c", code], check=True)
