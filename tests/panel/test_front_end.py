"""What the JupyterLab extension asks of the kernel over its comm, with a comm that only takes notes."""

from __future__ import annotations

from types import SimpleNamespace

import fakes
import pytest

from jaxstage_ext.panel import change_notices, front_end
from jaxstage_ext.panel.connection import NotebookState
from jaxstage_ext.panel.front_end import FrontEnd
from jaxstage_ext.panel.front_end_requests import inspection_requests
from jaxstage_ext.panel.showing import display


class Comm:
    """The page's end: what it was sent, and whether it is open."""

    def __init__(self):
        self.sent, self.is_open = [], True

    def on_msg(self, answer):
        self._answer = answer

    def on_close(self, forget):
        self.left = forget

    def send(self, data, buffers):
        self.sent.append(data)

    def close(self):
        self.is_open = False

    def tell(self, data):
        self._answer({"content": {"data": data}})

    def ask(self, method, **params):
        self.tell({"kind": "request", "id": 1, "method": method, "params": params})
        return next(message for message in reversed(self.sent) if message["kind"] == "reply")

    def result(self, method, **params):
        return self.ask(method, **params)["result"]


@pytest.fixture
def variables():
    return []


@pytest.fixture
def kernel(monkeypatch, clock, variables):
    monkeypatch.setattr(display, "_open", type(display._open)())
    monkeypatch.setattr(display, "_publish", lambda data, display_id, update: None)
    shell = SimpleNamespace(kernel=SimpleNamespace(get_parent=lambda channel: {"metadata": {"cellId": "cell-1"}}))
    monkeypatch.setattr(display, "_shell", lambda: shell)
    made = FrontEnd(NotebookState(lambda: variables, lambda: {"compile": {"line": "-t v5e:2x2 f(x)", "options": ""}}))
    yield made
    display.freeze_all()
    made.close()


@pytest.fixture
def page(kernel):
    comm = Comm()
    kernel.connect(comm, {})
    return comm


def test_it_answers_requests_and_nothing_else(page):
    for data in (None, "hello", [], {"kind": "other"}, {"kind": "request"}):
        page.tell(data)
    assert [(message["kind"], "error" in message) for message in page.sent] == [("reply", True)]
    message = page.ask("open the door")["error"]["message"]
    assert message.startswith("unknown method 'open the door'; there are hello, ") and "\n" not in message


def test_hello_leaves_out_widgets_while_the_page_is_connected(kernel, page):
    other = Comm()
    kernel.connect(other, {})
    assert page.result("hello") == {"version": 1}
    assert display._widgets_left_out
    other.left({})
    assert display._widgets_left_out
    page.left({})
    assert not display._widgets_left_out


def test_inspections_are_listed_newest_first_with_who_holds_them(page, variables):
    shown, bound = fakes.program(), fakes.program(head={"signature": "bound(x)"})
    panel = display.show([shown])._panel
    variables.append(("ins", bound))
    newest, oldest = page.result("inspections")["inspections"]
    assert (newest["signature"], newest["live"], newest["model"], newest["variables"]) == (
        "bound(x)",
        False,
        None,
        ["ins"],
    )
    assert (oldest["live"], oldest["model"], oldest["cell"]) == (True, panel.model_id, "cell-1")
    assert oldest["signature"] == shown.saved_summary["signature"]
    assert oldest["made"] <= newest["made"]
    assert [stage["state"] for stage in oldest["targets"][0]["stages"]] == [
        stage["state"] for stage in shown.saved_summary["stages"]
    ]


def test_an_inspection_that_nothing_holds_is_not_listed(page):
    fakes.program()
    assert page.result("inspections") == {"inspections": [], "left_out": 0}


@pytest.mark.parametrize("by", ["id", "model"])
def test_free_turns_the_panel_static_and_lets_go(page, by):
    panel = display.show([fakes.program()])._panel
    (entry,) = page.result("inspections")["inspections"]
    assert page.result("free", **{by: entry[by]}) == {"freed": True, "variables": []}
    assert panel.comm is None
    assert page.result("inspections")["inspections"] == []


def test_free_says_which_variables_still_hold_it(page, variables):
    made = fakes.program()
    display.show([made])
    variables.append(("ins", made))
    (entry,) = page.result("inspections")["inspections"]
    assert page.result("free", id=entry["id"]) == {"freed": False, "variables": ["ins"]}
    (entry,) = page.result("inspections")["inspections"]
    assert entry["live"] is False


def test_free_waits_for_a_thread_that_it_has_stopped_to_let_go(page, monkeypatch):
    still = [fakes.program()]
    display.show([still[0]])
    (entry,) = page.result("inspections")["inspections"]
    clock = SimpleNamespace(monotonic=lambda: 0.0, sleep=lambda seconds: still.clear())
    monkeypatch.setattr(inspection_requests, "time", clock)
    assert page.result("free", id=entry["id"]) == {"freed": True, "variables": []}


def test_free_says_so_where_something_else_goes_on_holding_it(page, monkeypatch):
    still, now = [fakes.program()], iter(range(100))
    display.show([still[0]])
    (entry,) = page.result("inspections")["inspections"]
    clock = SimpleNamespace(monotonic=lambda: next(now), sleep=lambda seconds: None)
    monkeypatch.setattr(inspection_requests, "time", clock)
    assert page.result("free", id=entry["id"]) == {"freed": False, "variables": []}


def test_while_it_waits_a_search_for_garbage_that_takes_long_is_made_seldom(page, monkeypatch):
    still, passed, searches = [fakes.program()], [0.0], []
    display.show([still[0]])
    (entry,) = page.result("inspections")["inspections"]

    def take(seconds):
        passed[0] += seconds

    def search():
        take(0.25)
        searches.append(passed[0])

    monkeypatch.setattr(inspection_requests, "time", SimpleNamespace(monotonic=lambda: passed[0], sleep=take))
    monkeypatch.setattr(inspection_requests, "gc", SimpleNamespace(collect=search))
    assert page.result("free", id=entry["id"]) == {"freed": False, "variables": []}
    assert inspection_requests.LETTING_GO <= passed[0] <= inspection_requests.LETTING_GO + 0.25
    assert 2 <= len(searches) <= 4, "a tenth of five seconds, and the last"


@pytest.mark.parametrize("wanted", [None, "", "99", 1, [], {"a": 1}, "x" * 100_000])
def test_free_refuses_what_is_not_there_in_one_line(page, wanted):
    message = page.ask("free", id=wanted)["error"]["message"]
    assert message.startswith("there is no inspection ") and len(message) < 200


def test_the_last_line_of_each_stage(page):
    assert page.result("last") == {"lines": {"compile": {"line": "-t v5e:2x2 f(x)", "options": ""}}}


NOTICE = {"kind": "notice", "what": "inspections"}


def test_a_page_is_told_once_of_changes_that_come_together(page, clock):
    for _ in range(100):
        change_notices.changed()
    assert page.sent == []
    clock.passes(front_end.QUIET)
    assert page.sent == [NOTICE]


def test_a_panel_that_opens_is_a_change(page, clock):
    display.show([fakes.program()])
    clock.passes(front_end.QUIET)
    assert page.sent == [NOTICE]


def test_connections_of_pages_that_went_are_closed(kernel):
    comms = [Comm() for _ in range(front_end.MOST_CONNECTIONS + 3)]
    for comm in comms:
        kernel.connect(comm, {})
    assert [comm.is_open for comm in comms] == [False] * 3 + [True] * front_end.MOST_CONNECTIONS
    kernel.close()
    assert not any(comm.is_open for comm in comms)


REQUESTS = {"hello", "inspections", "free", "open", "close", "compare", "compare_document", "last"}
ATTACKS = ["__class__", "__import__('os').system('true')", "%run x.py", "../../etc/passwd", "execute", "METHODS", "", 7]


def test_a_page_can_ask_for_these_and_for_nothing_that_runs_code():
    from jaxstage_ext.panel.front_end_requests import METHODS

    assert set(METHODS) == REQUESTS, "a further one: can a page that is not trusted do harm with it?"


@pytest.mark.parametrize("method", ATTACKS)
def test_any_other_name_is_no_method(page, method):
    assert "unknown method" in page.ask(method)["error"]["message"]


@pytest.mark.parametrize("method", sorted(REQUESTS))
def test_strange_parameters_get_a_reply_and_change_nothing(page, variables, method):
    made = fakes.program(head={"signature": "bound(x)"})
    variables.append(("ins", made))
    for strange in [*ATTACKS, None, [], {}, -1, 1e308, True]:
        page.ask(method, id=strange, model=strange, other=strange, target=strange, doc=strange, made=strange)
    assert variables == [("ins", made)]
    assert len(page.result("inspections")["inspections"]) == 1
