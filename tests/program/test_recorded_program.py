"""How a program holds its timeline, and programs that are a timeline alone."""

from __future__ import annotations

import json
from dataclasses import replace

import jax
import jax.numpy as jnp
import pytest
from helpers.recordings import Event, recording

from jaxstage_ext import inspect, load
from jaxstage_ext.panel.requests import dispatch
from jaxstage_ext.panel.showing import shown_timeline
from jaxstage_ext.profiling import op_links
from jaxstage_ext.profiling.capture.capture import Capture
from jaxstage_ext.profiling.capture.captured_recording import recording_of
from jaxstage_ext.profiling.op_places import ModuleMatch, without_places
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.profiling.xplane.module_runs import busiest_module
from jaxstage_ext.program import tabs
from jaxstage_ext.program.device import target_title
from jaxstage_ext.program.head import summary
from jaxstage_ext.program.kinds import recorded_program, saved
from jaxstage_ext.program.kinds.recorded_program import RecordedProgram
from jaxstage_ext.program.kinds.recorded_program import timeline as timeline_of
from jaxstage_ext.program.running import timeline_rates
from jaxstage_ext.report.recording import NONE, EventKind, RecordedModule
from jaxstage_ext.report.unavailable import Unavailable
from jaxstage_ext.views.static_html import panel_html

EVENTS = [
    Event("a", "dot.1", 0, 4, op=("jit_step", "dot.1")),
    Event("a", "add.1", 4, 2, op=("jit_other", "add.1")),
    Event("b", "jit_other", 0, 100, EventKind.MODULE, op=("jit_other", "")),
]


def timeline() -> Timeline:
    made = recording(EVENTS, title="train(batches)")
    return Timeline(made, without_places(made))


def test_a_call_that_was_not_profiled_says_how_to() -> None:
    inspection = inspect(jnp.sin, 1.0)
    assert inspection.program.timeline is None
    with pytest.raises(Unavailable, match=r"run jaxstage_ext\.profile\(sin"):
        _ = inspection.timeline


def test_the_newest_timeline_of_a_call_opens_first() -> None:
    inspection = inspect(jnp.sin, 1.0)
    assert "timeline" not in tabs.tabs(inspection.program)
    inspection.program.timeline = timeline()
    assert tabs.tabs(inspection.program)[:4] == ["findings", "code", "answers", "timeline"]
    assert tabs.first(inspection.program) == "timeline"
    assert inspection.timeline.recording.title == "train(batches)"
    assert inspection.timeline is inspection.timeline
    inspection.program.timeline = newer = timeline()
    assert inspection.timeline.recording is newer.recording


def test_a_timeline_alone_is_a_program_without_stages() -> None:
    program = RecordedProgram(timeline())
    head = summary.summary(program)
    assert (head["name"], head["signature"], head["target"]) == ("train(batches)",) * 2 + ("profile of GPU 0",)
    assert (head["views"], head["open"], head["stages"], head["error"], head["notes"]) == (
        ["code", "timeline"],
        "timeline",
        [],
        None,
        [],
    )


def test_a_profile_of_another_device_is_not_held_to_this_machines_peaks() -> None:
    program = RecordedProgram(timeline())
    assert target_title.platform(program) == "gpu"
    assert profiled().platform == "cpu"


def test_a_timeline_shows_itself() -> None:
    shown = shown_timeline.recorded(timeline())
    assert "train(batches)" in repr(shown)
    assert "train(batches)" in panel_html([shown.program])
    assert "text/html" in shown._repr_mimebundle_()


def test_the_requests_of_the_tab_are_known() -> None:
    from jaxstage_ext.panel.requests import timeline_requests

    assert set(timeline_requests.METHODS) <= set(dispatch.methods())


def test_the_busiest_module_is_that_of_the_ops_with_most_time() -> None:
    made = recording(EVENTS)
    assert made.modules[busiest_module(made)].name == "jit_step"
    assert busiest_module(made, with_proto=True) == NONE
    assert busiest_module(recording([])) == NONE
    idle = replace(made, modules=(*made.modules, RecordedModule("jit_idle", "9", lambda: b"")))
    assert busiest_module(idle, with_proto=True) == NONE


def profiled() -> RecordedProgram:
    """A real capture of a jitted function, as a program."""
    capture = Capture("product(x)")
    x = jnp.ones((64, 64))
    product(x)
    with capture.recording(), capture.step() as results:
        results.append(product(x))
    return RecordedProgram.of(recording_of(capture))


def test_a_file_is_linked_once_and_its_hlo_has_rates(monkeypatch: pytest.MonkeyPatch) -> None:
    capture, x = Capture("product(x)"), jnp.ones((64, 64))
    product(x)
    with capture.recording(), capture.step() as results:
        results.append(product(x))
    linked: list[object] = []
    places = op_links.places
    monkeypatch.setattr(op_links, "places", lambda *args: linked.append(args) or places(*args))
    opened = load(capture.data)
    assert isinstance(opened, shown_timeline.ShownTimeline) and len(linked) == 1
    assert opened.places.match is ModuleMatch.SAME
    rates = timeline_rates.with_rates(opened.program, opened, opened.by_op(), "op")
    assert max(rate for rate in rates["FLOP/s"] if rate == rate) > 0


@jax.jit
def product(x: jax.Array) -> jax.Array:
    return jnp.tanh(x @ x).sum()


def test_a_capture_has_the_hlo_of_its_module_and_links_to_it() -> None:
    program = profiled()
    assert list(program.documents) == ["python", "hlo"]
    known = program.timeline
    assert known is not None and known.places.match is ModuleMatch.SAME
    document = program.documents["hlo"]
    for op, row in zip(known.recording.ops.name, known.places.row.tolist(), strict=True):
        assert f"%{op} = " in document.lines[row]
    assert "return jnp.tanh(x @ x).sum()" in program.documents["python"].text
    assert known.attributed > 0.95


def test_the_hlo_of_a_file_is_printed_by_a_worker_which_a_damaged_one_may_kill() -> None:
    """A module that jaxlib 0.12 aborts for: the kernel lives on, and the rest of the profile is shown."""
    proto = profiled().proto()
    shape = proto.index(b"f32") if b"f32" in proto else len(proto) // 2
    assert recorded_program.text_of_foreign(proto).startswith("HloModule jit_product")
    with pytest.raises(Unavailable, match="cannot be printed"):
        recorded_program.text_of_foreign(proto[: shape // 2] + b"\xff" * 40)
    made = recording(EVENTS[:2], title="foreign")
    damaged = replace(made, modules=tuple(replace(module, proto=lambda: b"\xff" * 40) for module in made.modules))
    program = RecordedProgram(Timeline(damaged, without_places(damaged)))
    assert program.documents.get("hlo") is None and program.timeline is not None
    assert "foreign" in panel_html([program])


def test_a_profile_alone_is_saved_but_for_its_timeline() -> None:
    program = profiled()
    back = saved.opened(json.dumps(saved.report(program, program.targets)))
    assert summary.summary(back)["stages"] == [] and back.stage == ""
    assert back.documents["hlo"].text == program.documents["hlo"].text
    with pytest.raises(Unavailable, match="was not saved"):
        timeline_of(back)
    assert "product(x)" in panel_html([back])


def test_a_damaged_module_is_refused_before_xla_reads_it() -> None:
    made = recording(EVENTS)
    damaged = replace(made, modules=tuple(replace(m, proto=lambda: b"\x0a\xff") for m in made.modules))
    program = RecordedProgram(Timeline(damaged, without_places(damaged)))
    with pytest.raises(Unavailable, match="the HLO in the profile of made by hand is damaged"):
        _ = program.module
