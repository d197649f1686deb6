"""What the tab of all processes' compiles is answered, and its still forms."""

from __future__ import annotations

import pytest
from made_job_compiles import DETAILS, LATE, MadeJobCompiles
from panel_requests import ask

from jaxstage_ext.compilation.records.record_outcome import RecordOutcome
from jaxstage_ext.panel.params import BadRequest
from jaxstage_ext.panel.saving import kernel_replies
from jaxstage_ext.panel.showing import page
from jaxstage_ext.processes import job_compiles_wording as wording
from jaxstage_ext.program.head.summary import summary
from jaxstage_ext.program.kinds.job_compiles_program import JobCompilesProgram
from jaxstage_ext.views import kernel_forms
from tests.helpers.wire_columns import columns


@pytest.fixture
def made() -> MadeJobCompiles:
    return MadeJobCompiles()


def test_it_opens_by_itself(made: MadeJobCompiles) -> None:
    head = summary(made.program)
    assert (head["views"], head["open"], head["documents"]) == (["job_compiles"], "job_compiles", [])


def test_records_are_in_the_order_of_time_with_their_process_and_who_did_not_answer(made: MadeJobCompiles) -> None:
    answer, buffers = ask(made.program, "job_compiles")
    found = columns(answer, buffers)
    assert list(zip(found["process"], found["number"], found["eager"], strict=True)) == [
        (0, 1, 0), (1, 1, 0), (0, 2, 1), (0, 3, 0), (1, 2, 0),
    ]  # fmt: skip
    assert answer["processes"] == [0, 1] and answer["missing"] == [[2, LATE]] and answer["can_refresh"]
    assert wording.no_log(2, LATE) in answer["sentences"]
    assert list(found["outcome"]).count(RecordOutcome.STOPPED.value) == 2


def test_programs_of_several_processes_without_a_cache_that_is_not_in_use(made: MadeJobCompiles) -> None:
    answer, _ = ask(made.program, "job_compiles_programs")
    assert answer["strings"]["program"] == ["step(f32[8])"]
    assert "persistent cache" not in {one["name"] for one in answer["columns"]}


def test_why_is_asked_of_the_process_when_somebody_looks(made: MadeJobCompiles) -> None:
    assert made.asked == []
    answer, _ = ask(made.program, "job_compiles_record", process=0, number=1)
    assert answer == DETAILS
    assert [one[1:] for one in made.asked] == [(1, [0])]
    for process, number, word in ((1, 1, LATE), (0, 7, "no longer has #7"), (5, 1, "no process 5")):
        with pytest.raises(BadRequest, match=word):
            ask(made.program, "job_compiles_record", process=process, number=number)


def test_refresh_asks_all_anew(made: MadeJobCompiles) -> None:
    assert ask(made.program, "job_compiles_refresh")[0] == {"new": 1}
    answer, buffers = ask(made.program, "job_compiles")
    assert len(columns(answer, buffers)["number"]) == 6 and answer["missing"] == []


@pytest.mark.parametrize("bad", [{"process": -1, "number": 1}, {"process": 0}, {"process": "0", "number": 1}])
def test_other_parameters_are_refused(made: MadeJobCompiles, bad: dict[str, object]) -> None:
    with pytest.raises(BadRequest):
        ask(made.program, "job_compiles_record", **bad)


def test_a_saved_notebook_has_the_lists_and_asks_no_process(made: MadeJobCompiles) -> None:
    saved = kernel_replies.replies(made.program, None)
    assert {key.partition(" ")[0].strip('["') for key in map(str, saved.replies)} >= {"job_compiles"}
    assert made.asked == []
    alone = JobCompilesProgram(made.program.compiles)
    assert not alone.can_refresh and alone.refresh() == 0
    with pytest.raises(BadRequest, match="not saved"):
        ask(alone, "job_compiles_record", process=0, number=1)


def test_the_still_forms_and_the_page_say_the_same(made: MadeJobCompiles, tmp_path: object) -> None:
    forms = kernel_forms.forms_of(made.program)
    assert forms is not None
    assert forms.text(made.program, 100) == repr(made.program.compiles)
    html = forms.html(made.program)
    assert LATE in html and "<script" not in html
    page.write([made.program], f"{tmp_path}/page.html")
