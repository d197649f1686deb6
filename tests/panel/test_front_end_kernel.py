"""The extension's comm in a real kernel."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from page_kernel import Message, PageKernel, displays, errors, page_kernel

from jaxstage_ext.panel.saving.saved_output import MIME_TYPE
from jaxstage_ext.panel.showing.display import WIDGET_VIEW

LOADING = "%load_ext jaxstage_ext"
SETUP = "import jax, jax.numpy as jnp, pathlib, threading, time\nx = jnp.ones((4, 4))"
ANEW = ("%unload_ext jaxstage_ext", "%reset -f", "get_ipython().execution_count = 1")
IMPORTED = "[name for name in __import__('sys').modules if name.startswith('jaxstage_ext.panel')]"
ALL_IS_TOLD = "for thread in threading.enumerate():\n    isinstance(thread, threading.Timer) and thread.join()"
"""Waits for what is told a moment after a change."""
CELL = "%%compile{}\ndef f(x):\n    return jnp.sin(x).sum()\nf(x)"


class Started(NamedTuple):
    """A kernel of all tests, and the modules of the panel's that were there when it had just loaded the extension."""

    kernel: PageKernel
    imported: list[str]


@pytest.fixture(scope="module")
def started() -> Iterator[Started]:
    with page_kernel() as made:
        assert not errors(made.run(LOADING))
        yield Started(made, made.value(IMPORTED))


@pytest.fixture
def kernel(started: Started) -> PageKernel:
    """The kernel with nothing of an earlier test's: no name, no panel, no comm; its first cell has set it up."""
    for code in ANEW:
        assert not errors(started.kernel.run(code, counts=False))
    assert not errors(started.kernel.run(f"{LOADING}\n{SETUP}"))
    return started.kernel


def model_of(messages: list[Message]) -> str:
    return str(displays(messages)[-1][MIME_TYPE]["model"])


def test_a_cell_keeps_its_model_and_its_widget_goes_once_the_extension_is_there(kernel: PageKernel) -> None:
    kernel.open()
    first = kernel.run(CELL.format(" -o ins"), "cell-1")
    assert WIDGET_VIEW in displays(first)[-1]
    updates = displays(kernel.tell({"kind": "request", "id": 1, "method": "hello"}))
    assert [(WIDGET_VIEW in data, data[MIME_TYPE]["model"]) for data in updates] == [(False, model_of(first))]
    again = kernel.run(CELL.format(""), "cell-1")
    assert WIDGET_VIEW not in displays(again)[-1]
    assert model_of(again) == model_of(first)
    assert not displays(kernel.tell({"kind": "request", "id": 2, "method": "hello"})), "what stands is not sent again"
    newest, oldest = kernel.result("inspections")["inspections"]
    assert (newest["label"], newest["live"], newest["variables"]) == ("In [3]", True, [])
    assert (oldest["label"], oldest["live"], oldest["variables"]) == ("In [2]", False, ["ins"])
    assert [stage["state"] for stage in newest["targets"][0]["stages"]] == ["done"] * 3
    assert newest["cell"] == "cell-1" and newest["signature"] == "f(x: f32[4,4]) -> f32[]"


def test_a_cell_that_fails_before_its_panel_closes_the_one_it_had(kernel: PageKernel) -> None:
    kernel.open()
    kernel.run(CELL.format(""), "cell-1")
    assert len(kernel.result("inspections")["inspections"]) == 1
    kernel.run("1 / 0", "cell-1")
    assert kernel.result("inspections")["inspections"] == []


def test_freeing_says_what_the_user_still_holds(kernel: PageKernel) -> None:
    kernel.open()
    kernel.run(CELL.format(" -o ins"), "cell-1")
    (entry,) = kernel.result("inspections")["inspections"]
    assert kernel.result("free", model=entry["model"]) == {"freed": False, "variables": ["ins"]}
    kernel.run("del ins")
    assert kernel.result("inspections")["inspections"] == []
    kernel.run(CELL.format(""), "cell-1")
    (entry,) = kernel.result("inspections")["inspections"]
    assert kernel.result("free", id=entry["id"]) == {"freed": True, "variables": []}


def test_a_variable_that_is_bound_or_deleted_is_told_of(kernel: PageKernel) -> None:
    kernel.open()
    for code in ("ins = %compile -q jnp.sin(x)", "del ins"):
        kernel.result("last")  # the comm is open
        told = [message["content"] for cell in (code, ALL_IS_TOLD) for message in kernel.run(cell)]
        assert [content["data"] for content in told if content.get("comm_id") == kernel.comm] == [
            {"kind": "notice", "what": "inspections"}
        ]


def test_it_answers_while_a_cell_runs(kernel: PageKernel, tmp_path: Path) -> None:
    kernel.open()
    kernel.run(CELL.format(""), "cell-1")
    answered = tmp_path / "answered"
    with kernel.subshell() as subshell:
        kernel.client.execute(f"while not pathlib.Path({str(answered)!r}).exists(): time.sleep(0.02)")
        try:
            (entry,) = kernel.ask("inspections", subshell)["result"]["inspections"]
        finally:
            answered.touch()
        assert entry["status"] == "done"
        assert kernel.value("1 + 1") == 2


def test_unloading_closes_the_comm_and_leaves_no_target(kernel: PageKernel) -> None:
    kernel.open()
    kernel.result("hello")
    kernel.run(CELL.format(""), "cell-1")
    messages = kernel.run("%unload_ext jaxstage_ext")
    assert kernel.comm in [m["content"]["comm_id"] for m in messages if m["msg_type"] == "comm_close"]
    assert not errors(messages)
    assert "jaxstage" not in kernel.value("list(get_ipython().kernel.comm_manager.targets)")
    kernel.run("%load_ext jaxstage_ext")
    kernel.open()
    assert kernel.result("inspections") == {"inspections": [], "left_out": 0}


def test_loading_imports_nothing_of_it(started: Started) -> None:
    assert started.imported == []


@pytest.mark.parametrize("data", [None, "hello", [], {}, {"kind": "reply"}, {"kind": "request", "method": {"a": [1]}}])
def test_what_is_no_request_leaves_the_kernel_alone(kernel: PageKernel, data: object) -> None:
    kernel.open()
    kernel.tell(data)
    assert kernel.result("last") == {"lines": {}}
