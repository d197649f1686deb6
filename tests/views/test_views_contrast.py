"""The still form's colours on the grounds that it may come to stand on: white and black, with WCAG's ratio for text."""

from __future__ import annotations

import re

import fakes
import jax.numpy as jnp
from helpers.recordings import Event, recording

import jaxstage_ext
from jaxstage_ext.profiling.op_places import without_places
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.program.kinds.recorded_program import RecordedProgram
from jaxstage_ext.report.recording import Loss, Lost
from jaxstage_ext.views.static_html import panel_html

TEXT = 4.5
COLOURED = re.compile(r"(?:[;\"\s]|^)color:\s*(#[0-9a-f]{3,6})")


def linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4


def luminance(colour: str) -> float:
    red, green, blue = (linear(int(colour[i : i + 2], 16) / 255) for i in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def low(html: str) -> dict[str, tuple[float, float]]:
    """The text colours that are not seen well enough, with their contrasts to white and to black."""
    ratios = {
        colour: (1.05 / (luminance(colour) + 0.05), (luminance(colour) + 0.05) / 0.05)
        for colour in COLOURED.findall(html)
    }
    assert ratios
    return {colour: ratio for colour, ratio in ratios.items() if min(ratio) < TEXT}


def test_text_of_a_call_is_read_on_white_and_on_black() -> None:
    made = jaxstage_ext.inspect(lambda x: jnp.tanh(x @ x).sum(), jnp.ones((8, 8)), target=["cpu:1", "cpu:2"])
    assert not low(made._repr_mimebundle_()["text/html"])


def test_text_of_a_failure_and_of_a_profile_too() -> None:
    error = {"stage": "trace", "type": "TypeError", "message": "no", "file": "a", "label": "In [5]", "line": 3}
    assert not low(panel_html([fakes.program(head={"error": error | {"interrupted": False}, "notes": ["a note"]})]))
    events = [Event("a", "gemm", 0, 60), Event("a", "copy", 80, 20)]
    timeline = Timeline(made := recording(events, lost=[Lost(Loss.DROPPED, 7)]), without_places(made))
    assert not low(panel_html([RecordedProgram(timeline)]))
