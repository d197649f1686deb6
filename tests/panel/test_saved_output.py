"""What a display saves for the renderer of saved reports: whole where it fits, cut and said so where it does not."""

from __future__ import annotations

import base64
import gzip
import json
import time
from collections.abc import Iterator
from typing import Any

import fakes
import jax.numpy as jnp
import numpy as np
import pytest

from jaxstage_ext import inspect
from jaxstage_ext.panel.saving.saved_bounds import bounded
from jaxstage_ext.panel.saving.saved_call import SavedReplies, saved_calls
from jaxstage_ext.panel.saving.saved_output import MIME_TYPE, saved_output
from jaxstage_ext.panel.showing import mimebundle
from jaxstage_ext.panel.showing.mimebundle import static_bundle
from jaxstage_ext.program.kinds import saved
from jaxstage_ext.program.program import Program
from jaxstage_ext.report import kernel_settings
from jaxstage_ext.report.document import OP, document

LINE = "  %fusion.{0} = f32[{0},512]{{1,0}} fusion(%p.{0}), kind=kLoop, calls=%fused.{0}"


@pytest.fixture(autouse=True)
def usual_settings() -> Iterator[None]:
    yield
    kernel_settings.change(saved_bytes=kernel_settings.KernelSettings.saved_bytes)
    kernel_settings.change(saves_source=True)


def payload(*programs: Program, model: str | None = "m1") -> dict[str, Any]:
    made: dict[str, Any] = saved_output(programs, model)[MIME_TYPE]
    return made


def reports(held: dict[str, Any]) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = json.loads(gzip.decompress(base64.b64decode(held["reports"])))
    return made


def long_program(lines: int) -> Program:
    """Two documents of so many lines: each line of the HLO has a frame, its block is open till the end."""
    hlo = document("hlo", map(LINE.format, range(lines)), fakes.frames())
    hlo.frame[:] = np.arange(lines) % 3
    hlo.flags[:] = OP
    hlo.fold_end[0] = lines - 1
    return fakes.program(documents={"python": fakes.python(), "hlo": hlo})


def test_a_small_program_is_whole_and_reads_back() -> None:
    program = inspect(lambda x: jnp.sin(x) @ x, jnp.ones((4, 4)), stage="compile").program
    held = payload(program)
    (report,) = reports(held)
    assert (held["version"], held["model"], held["left_out"]) == (1, "m1", [])
    back = saved.opened(json.dumps(report))
    assert {kind: doc.text for kind, doc in back.documents.items()} == {
        kind: doc.text for kind, doc in program.documents.items()
    }


def test_equal_programs_have_equal_bytes() -> None:
    assert payload(long_program(90_000)) == payload(long_program(90_000))


@pytest.mark.parametrize("kilobytes", [20, 100, 500])
def test_a_long_document_is_cut_and_says_so(kilobytes: int) -> None:
    kernel_settings.change(saved_bytes=kilobytes * 1000)
    program = long_program(60_000)
    held = payload(program)
    assert kilobytes * 250 < len(json.dumps(held)) <= kilobytes * 1000
    back = saved.opened(json.dumps(reports(held)[0]))
    lines = back.documents["hlo"].lines
    assert lines[:-1] == list(program.documents["hlo"].lines[: len(lines) - 1])
    assert lines[-1] == f"… first {len(lines) - 1:,} of 60,000 lines; the rest is not in the saved notebook"
    assert held["left_out"] == [f"loss: optimised HLO: {lines[-1][2:]}"]
    assert any(lines[-1][2:] in note for note in back.saved_summary["notes"])


def test_the_lines_that_are_kept_have_their_sources() -> None:
    program = long_program(60_000)
    whole, cut = program.documents["hlo"], saved.opened(json.dumps(reports(payload(program))[0])).documents["hlo"]
    for line in (1, 2, 3, len(cut) - 1):
        assert str(cut.source_of(line)) == str(whole.source_of(line))
    assert cut.source_of(len(cut)) is None
    assert cut.fold_end[0] == len(cut) - 2


def test_call_stacks_that_no_line_refers_to_are_left_out() -> None:
    hlo = document("hlo", map(LINE.format, range(60_000)), fakes.frames())
    hlo.frame[:3], hlo.frame[-1] = 1, 2
    (report,) = reports(payload(fakes.program(documents={"hlo": hlo})))
    back = saved.opened(json.dumps(report))
    assert len(back.frames) == 1
    assert back.documents["hlo"].source_of(1).line == fakes.frames().line[1]


def test_documents_go_where_not_even_their_first_lines_fit() -> None:
    kernel_settings.change(saved_bytes=4_000)
    held = payload(long_program(60_000))
    (report,) = reports(held)
    assert set(report["documents"]) <= {"python"}
    assert "loss: optimised HLO: is not in the saved notebook" in held["left_out"]


def test_replies_go_last() -> None:
    incompressible = base64.b64encode(np.random.default_rng(0).bytes(9000)).decode()
    large = SavedReplies(frozenset(["cost"]), {"cost {}": {"result": {"a": incompressible}, "buffers": []}})
    calls = list(saved_calls([long_program(60_000)], None, lambda program: large))
    with_replies, without = bounded(calls, 14_000), bounded(calls, 6_000)
    assert with_replies is not None and without is not None
    assert "replies" in json.loads(gzip.decompress(base64.b64decode(with_replies.data)))[0]
    assert "replies" not in json.loads(gzip.decompress(base64.b64decode(without.data)))[0]
    assert any("tabs" in sentence for sentence in without.left_out)


def test_a_line_of_megabytes_loses_its_middle() -> None:
    hlo = document("hlo", ["ENTRY %main {", f"  constant({{{'1.5, ' * 1_000_000}}})", "}"], fakes.frames())
    (report,) = reports(payload(fakes.program(documents={"hlo": hlo})))
    text = saved.opened(json.dumps(report)).documents["hlo"].text
    assert "characters elided" in text
    assert len(text) < 10_000


def test_nothing_is_saved_where_the_setting_says_so() -> None:
    kernel_settings.change(saved_bytes=0)
    assert MIME_TYPE not in static_bundle([fakes.program()], "m1", True)


@pytest.mark.parametrize("allowed", [1000, 2050], ids=["nothing", "too little"])
def test_a_report_that_does_not_fit_is_said_to_be_missing(allowed: int) -> None:
    kernel_settings.change(saved_bytes=allowed)
    bundle = static_bundle([fakes.program()], "m1", True)
    assert MIME_TYPE not in bundle
    for form in ("text/html", "text/plain"):
        assert "The saved report unavailable: it does not fit in the " in bundle[form]


def test_a_report_that_cannot_be_made_is_said_to_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*given: Any) -> None:
        raise RuntimeError("the <b>disk</b> is full")

    monkeypatch.setattr(mimebundle, "saved_output", fails)
    bundle = static_bundle([fakes.program()], "m1", True)
    assert bundle["text/plain"].endswith("\nThe saved report cannot be shown: RuntimeError: the <b>disk</b> is full")
    assert "RuntimeError: the &lt;b&gt;disk&lt;/b&gt; is full" in bundle["text/html"]
    assert "cannot be shown" not in static_bundle([fakes.program()], "m1", False)["text/plain"]


def test_source_is_left_out_where_the_setting_says_so() -> None:
    program = inspect(lambda x: jnp.sin(x), 1.0).program
    assert "jnp.sin" in json.dumps(saved.opened(json.dumps(reports(payload(program))[0])).documents["python"].text)
    kernel_settings.change(saves_source=False)
    held = saved.opened(json.dumps(reports(payload(program))[0]))
    assert "jnp.sin" not in held.documents["python"].text


def test_names_that_cannot_be_encoded_are_sent() -> None:
    bundle = static_bundle([fakes.program(name="a\ud800b")], "m1", True)
    assert json.dumps(bundle, ensure_ascii=False).encode()


def test_half_a_million_lines_are_bounded_before_they_are_compressed() -> None:
    program = long_program(500_000)
    payload(program)
    started = time.process_time()
    payload(program)
    assert time.process_time() - started < 0.5


def test_sets_of_options_are_saved_as_targets_are() -> None:
    sets = [{"optimization_level": level} for level in ("O0", "O3")]
    ins = inspect(lambda x: jnp.tanh(x) + 1, jnp.ones(4), compiler_options=sets)
    (report,) = reports(payload(*ins.program.targets.values()))
    first, second = ins.program.targets
    assert [*report["others"]] == [second]
    assert list(saved.opened(json.dumps(report)).targets) == [first, second]
