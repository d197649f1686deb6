"""A prediction that leaves as a file still says that nothing ran, here and in other viewers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from jaxstage_ext.profiling.opening import open_recording
from jaxstage_ext.profiling.predictions import written_prediction
from jaxstage_ext.report.prediction import Estimator, Means, PredictedLoop
from jaxstage_ext.views.lanes_svg import lanes_svg
from tests.helpers.predicted_recordings import Planned, predicted_timeline, prediction

BASIS = replace(
    prediction(seconds=6.45e-3, matched=0.97, weighted=1e-4, exposed=2.19e-3, peak=123, network="400 Gbit/s"),
    loops=(PredictedLoop("while.1", 12, 1e-3), PredictedLoop("while.2", None, 2e-3)),
    unknown=("copy.1",),
)


def test_a_trace_that_is_opened_again_is_the_same_prediction(tmp_path: Path) -> None:
    made = predicted_timeline([Planned("dot.1", 0, 10, line=3)])
    made = replace(made, recording=replace(made.recording, prediction=BASIS))
    made.to_chrome(tmp_path / "t.json")
    assert open_recording(tmp_path / "t.json").prediction == BASIS
    names = [event["args"]["name"] for event in json.loads((tmp_path / "t.json").read_text())["traceEvents"]
             if event["name"] == "process_name"]  # fmt: skip
    assert names == ["predicted: h100:8, one device"]


def test_its_picture_and_its_speedscope_file_say_so(tmp_path: Path) -> None:
    made = predicted_timeline([Planned("dot.1", 0, 10, line=3)])
    made.to_speedscope(tmp_path / "t.json")
    assert "predicted" in json.loads((tmp_path / "t.json").read_text())["name"]
    assert "Predicted for h100:8, nothing ran" in lanes_svg(made)


@pytest.mark.parametrize(
    "damaged",
    [None, [], "XLA", {}, {"estimator": "somebody"},
     {"estimator": "XLA", "means": [], "loops": 3, "unknown": [{}], "seconds": -1},
     {"estimator": "XLA", "loops": [1, {"seconds": float("nan")}], "peak": 2**80, "matched": 7}],
)  # fmt: skip
def test_what_is_damaged_is_no_prediction_or_unknown_in_parts(damaged: object) -> None:
    read = written_prediction.read(damaged)
    assert read is None or (
        (read.estimator, read.means, read.seconds, read.peak, read.loops)
        == (Estimator.XLA, Means.UNKNOWN, None, None, ())
        and 0 <= read.matched <= 1
    )
