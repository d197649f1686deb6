"""Looks that take long: pending until they are done, one job a question, stopped on demand."""

from __future__ import annotations

import gc
import re
import threading
import time
import weakref

import fakes
import pytest

from jaxstage_ext.panel import jobs
from jaxstage_ext.panel.params import BadRequest
from jaxstage_ext.panel.requests import dispatch
from jaxstage_ext.worker.pool import WorkerDied

PATIENCE = 60.0


@pytest.fixture(autouse=True)
def nobody_waits(monkeypatch):
    """A request that is not answered at once is pending at once."""
    monkeypatch.setattr(jobs, "GRACE", 0.0)


@pytest.fixture
def method(monkeypatch):
    """A function that makes a look the wire method "look"."""

    def install(look):
        monkeypatch.setitem(dispatch.COMMON, "look", jobs.slow(look))

    return install


def ask(made, method="look", **params):
    return dispatch.answer([made], method, {"call": 0} | params)


def until(said):
    """What it says, once that is true."""
    end = time.monotonic() + PATIENCE
    while not (value := said()) and time.monotonic() < end:
        time.sleep(0.005)
    return value


def nothing_runs():
    return not any(thread.name == "jaxstage job" for thread in threading.enumerate())


class Held:
    """A look that goes on until it is let go."""

    def __init__(self, result="done"):
        self.go, self.result = threading.Event(), result
        self._begun = []

    @property
    def begun(self):
        """How often it began."""
        return len(self._begun)

    def __call__(self, inspections, params, progress):
        self._begun.append(params)
        progress("pass 3 of 90")
        while not self.go.wait(0.005):
            progress.check()
        return {"result": self.result, "of": params.get("of", "")}, [b"data"]


def finish(made, **params):
    """The answer of a look that has been let go."""
    end = time.monotonic() + PATIENCE
    while "pending" in (reply := ask(made, **params))[0] and time.monotonic() < end:
        time.sleep(0.005)
    return reply


def test_it_is_pending_with_its_progress_until_the_answer_comes(method):
    made, look = fakes.program(), Held()
    method(look)
    ask(made)
    assert until(lambda: ask(made)[0]["pending"]["progress"]) == "pass 3 of 90"
    first, second = (ask(made)[0]["pending"]["elapsed"] for _ in range(2))
    assert 0 < first < second
    assert ask(made)[1] == []
    look.go.set()
    assert finish(made) == ({"result": "done", "of": ""}, [b"data"])
    assert look.begun == 1


def test_the_request_thread_is_free_while_a_look_runs(method):
    made, look = fakes.program(), Held()
    method(look)
    assert "pending" in ask(made)[0]
    assert ask(made, "page", doc="hlo", start=0, end=1)[0]["lines"] == [fakes.HLO[0]]
    look.go.set()


def test_what_is_known_already_is_answered_at_once(method, monkeypatch):
    monkeypatch.setattr(jobs, "GRACE", PATIENCE)
    method(lambda inspections, params, progress: ({"known": 1}, []))
    assert ask(fakes.program()) == ({"known": 1}, [])


def test_each_inspection_and_question_has_a_job_of_its_own(method):
    one, other, look = fakes.program(), fakes.program(), Held()
    method(look)
    for made, params in [(one, {}), (one, {"pass": 3}), (other, {}), (one, {})]:
        assert "pending" in ask(made, **params)[0]
    assert until(lambda: look.begun == 3)
    look.go.set()
    for made, params in [(one, {}), (one, {"pass": 3}), (other, {})]:
        assert finish(made, **params)[0]["result"] == "done"
    assert look.begun == 3


def test_an_error_is_one_line_and_the_next_request_begins_anew(method, monkeypatch):
    monkeypatch.setattr(jobs, "GRACE", PATIENCE)
    made, calls = fakes.program(), []

    def look(inspections, params, progress):
        calls.append(params)
        if len(calls) == 1:
            raise RuntimeError("XLA\nsaid no")
        return {"fine": True}, []

    method(look)
    reply, _ = dispatch.reply([made], {"id": 1, "method": "look", "params": {"call": 0}})
    error = {"kind": "failed", "message": "RuntimeError: XLA said no", "log": False}
    assert reply == {"kind": "reply", "id": 1, "error": error}
    assert finish(made) == ({"fine": True}, [])


def test_what_a_worker_did_not_survive_is_said_without_its_log(method):
    def look(inspections, params, progress):
        raise WorkerDied("the compile worker for cpu was ended by SIGSEGV", "signal", "F0000 bad\nmore of it")

    method(look)
    with pytest.raises(BadRequest) as refused:
        finish(fakes.program())
    assert str(refused.value) == "WorkerDied: the compile worker for cpu was ended by SIGSEGV"
    assert refused.value.kind == "failed" and refused.value.has_log


def test_even_an_exit_ends_as_an_error_not_as_a_look_for_ever(method):
    def look(inspections, params, progress):
        raise SystemExit(3)

    method(look)
    with pytest.raises(BadRequest, match="SystemExit: 3"):
        finish(fakes.program())


def test_cancel_ends_the_look_and_the_next_request_begins_anew(method):
    made, look, ended = fakes.program(), Held(), threading.Event()

    def noticed(inspections, params, progress):
        progress.on_stop(ended.set)
        return look(inspections, params, progress)

    method(noticed)
    assert "pending" in ask(made, doc="hlo")[0]
    assert ask(made, "cancel", of="look", doc="jaxpr") == ({"stopped": False}, [])
    assert not ended.is_set()
    assert ask(made, "cancel", of="look", doc="hlo") == ({"stopped": True}, [])
    assert ended.wait(PATIENCE)
    assert until(nothing_runs)
    assert ask(made, "cancel", of="look", doc="hlo") == ({"stopped": False}, [])
    look.go.set()
    assert finish(made, doc="hlo")[0]["result"] == "done"
    assert look.begun == 2


def test_a_stop_is_heard_in_whatever_the_look_reports():
    progress, called = jobs.JobProgress(), []
    progress.heard(0.5, "text")
    progress.stop()
    progress.on_stop(lambda: called.append("late"))
    assert (progress.text, called) == ("text", ["late"])
    for report in (progress.check, lambda: progress("more"), lambda: progress.heard(1.0, None)):
        with pytest.raises(jobs.Stopped):
            report()


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"of": "page"}, "^'page' "),
        ({"of": 3}, "^of .*3$"),
        ({}, "^of .*None$"),
        ({"of": "look", "call": 7}, r"^call .*\b0\b.*\b0\b.*\b7$"),
    ],
)
def test_a_cancel_that_names_no_look_is_refused(method, params, said):
    method(Held())
    with pytest.raises(BadRequest) as refused:
        ask(fakes.program(), "cancel", **params)
    assert re.search(said, str(refused.value))


def test_the_fifth_look_waits_in_a_queue_and_says_so(method):
    made, look = fakes.program(), Held()
    method(look)
    for number in range(jobs.MOST):
        assert "pending" in ask(made, number=number)[0]
    fifth, sixth = (ask(made, number=number)[0]["pending"]["progress"] for number in (98, 99))
    assert fifth == "queued (at most 4 analyses run at once)"
    assert sixth == "queued behind 1 other (at most 4 analyses run at once)"
    assert until(lambda: look.begun == jobs.MOST)
    assert ask(made, "cancel", of="look", number=2) == ({"stopped": True}, [])
    assert until(lambda: look.begun == jobs.MOST + 1)
    assert ask(made, number=99)[0]["pending"]["progress"] == fifth
    look.go.set()
    for number in (0, 1, 3, 98, 99):
        assert finish(made, number=number)[0]["result"] == "done"
    assert look.begun == jobs.MOST + 2


def test_one_that_is_stopped_in_the_queue_never_runs(method):
    made, look = fakes.program(), Held()
    method(look)
    for number in range(jobs.MOST + 2):
        ask(made, number=number)
    assert ask(made, "cancel", of="look", number=jobs.MOST) == ({"stopped": True}, [])
    look.go.set()
    assert finish(made, number=jobs.MOST + 1)[0]["result"] == "done"
    assert look.begun == jobs.MOST + 1
    assert until(nothing_runs)


def test_a_queue_without_end_is_refused_for_now(method):
    made, look = fakes.program(), Held()
    method(look)
    try:
        for number in range(jobs.MOST + jobs.MOST_QUEUED):
            ask(made, number=number)
        with pytest.raises(BadRequest, match="204 analyses of this call") as refused:
            ask(made, number=-1)
    finally:
        jobs.stop_all([made])
    assert refused.value.kind == "busy"


def said(programs, page, method="look", **params):
    """What a page is answered, by its number."""
    request = {"id": 1, "page": page, "method": method, "params": {"call": 0} | params}
    reply, _ = dispatch.reply(programs, request)
    return reply.get("result") or reply["error"]


def test_two_panels_that_ask_the_same_share_one_job_and_both_get_its_answer(method):
    made, other, look = fakes.program(), fakes.program(), Held()
    method(look)
    assert "pending" in said([made], 1)
    assert "pending" in said([other, made], 2, call=1)
    assert until(lambda: look.begun == 1)
    look.go.set()
    assert until(lambda: "pending" not in (answer := said([made], 1)) and answer)["result"] == "done"
    assert said([other, made], 2, call=1)["result"] == "done"
    assert look.begun == 1
    assert not jobs._jobs[made]


def test_a_page_that_stops_a_shared_job_leaves_it_to_the_other(method):
    made, look = fakes.program(), Held()
    method(look)
    assert all("pending" in said([made], page) for page in (1, 2))
    assert said([made], 1, "cancel", of="look") == {"stopped": True}
    assert "pending" in said([made], 2)
    assert said([made], 2, "cancel", of="look") == {"stopped": True}
    assert until(nothing_runs)
    assert look.begun == 1


def test_a_failure_that_one_page_has_seen_is_tried_again_for_it(method):
    made, calls = fakes.program(), []

    def fails_once(programs, params, progress):
        calls.append(params)
        if len(calls) == 1:
            raise ValueError("no")
        return {"fine": True}, []

    method(fails_once)
    assert until(lambda: "pending" not in (answer := said([made], 1)) and answer)["message"] == "ValueError: no"
    assert until(lambda: "pending" not in (answer := said([made], 1)) and answer) == {"fine": True}


def test_many_threads_asking_get_one_job(method):
    made, look, replies = fakes.program(), Held(), []
    method(look)
    threads = [threading.Thread(target=lambda: replies.append(ask(made))) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(replies) == 20
    assert all("pending" in result for result, _ in replies)
    look.go.set()
    assert until(nothing_runs)
    assert look.begun == 1


def test_a_look_whose_thread_cannot_start_is_refused_and_begins_anew(method, monkeypatch):
    def refused(thread):
        raise RuntimeError("can't start new thread")

    made, look = fakes.program(), Held()
    look.go.set()
    method(look)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refused)
        with pytest.raises(RuntimeError, match="can't start"):
            ask(made)
    assert finish(made)[0]["result"] == "done"


def test_a_closed_panel_stops_its_looks_and_nothing_is_kept(method):
    made, look = fakes.program(), Held()
    method(look)
    assert "pending" in ask(made)[0]
    for number in range(jobs.MOST + 2):
        ask(made, number=number)
    assert until(lambda: look.begun == jobs.MOST)
    jobs.stop_all([made])
    assert until(nothing_runs)
    assert look.begun == jobs.MOST
    gone = weakref.ref(made)
    del made
    gc.collect()
    assert gone() is None


def test_one_that_ends_as_a_panel_closes_does_not_start_the_next_of_the_queue(method):
    made, look = fakes.program(), Held()

    def ends_before_the_next_is_stopped(inspections, params, progress):
        thread = threading.current_thread()
        progress.on_stop(lambda: thread.join(PATIENCE))
        return look(inspections, params, progress)

    method(ends_before_the_next_is_stopped)
    for number in range(jobs.MOST + 1):
        ask(made, number=number)
    assert until(lambda: look.begun == jobs.MOST)
    jobs.stop_all([made])
    assert until(nothing_runs)
    assert look.begun == jobs.MOST


def test_an_answer_nobody_fetches_does_not_keep_its_inspection(method):
    made, look = fakes.program(), Held()
    method(look)
    assert "pending" in ask(made)[0]
    look.go.set()
    assert until(nothing_runs)
    gone = weakref.ref(made)
    del made
    gc.collect()
    assert gone() is None


def test_a_failure_does_not_keep_its_inspection(method):
    go = threading.Event()

    def look(inspections, params, progress):
        go.wait(PATIENCE)
        raise ValueError(f"about {inspections[0].name}")

    made = fakes.program()
    method(look)
    assert "pending" in ask(made)[0]
    go.set()
    assert until(nothing_runs)
    gone = weakref.ref(made)
    del made
    gc.collect()
    assert gone() is None


def test_answers_that_nobody_fetches_are_not_kept_for_ever(method):
    gate = threading.Event()
    method(lambda programs, params, progress: gate.wait(PATIENCE) and ({"n": params["n"]}, []))
    made = fakes.program()
    for n in range(3 * jobs.MOST_KEPT):
        gate.clear()
        assert "pending" in ask(made, n=n)[0]
        gate.set()
        assert until(lambda n=n: all(job.done.is_set() for job in jobs._jobs[made].values()))
    assert len(jobs._jobs[made]) <= jobs.MOST_KEPT + 1
    assert ask(made, n=3 * jobs.MOST_KEPT - 1)[0] == {"n": 3 * jobs.MOST_KEPT - 1}
