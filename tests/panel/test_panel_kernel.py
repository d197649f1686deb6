"""The panel in a real kernel."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from kernels import start_kernel

TESTS = Path(__file__).parents[1]
START = """
import fakes, time, ipywidgets
from pathlib import Path
from jaxstage_ext.panel import assets; from jaxstage_ext.panel.showing import display
assets.STATIC = Path({static!r})
made = [fakes.program()]
shown = display.Shown(made, patience=600)
shown.finish(made)
"""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    static = tmp_path_factory.mktemp("static")
    (static / "stub.js").write_text("export default {}")
    (static / "panel.css").write_text("")
    path = os.pathsep.join([str(TESTS / "helpers"), str(TESTS.parent)])
    manager, talk = start_kernel(os.environ | {"PYTHONPATH": path})
    talk.start = START.format(static=str(static))
    yield talk
    talk.stop_channels()
    manager.shutdown_kernel(now=True)


def run(kernel, code):
    """The messages that a cell gives."""
    sent = []
    reply = kernel.execute_interactive(code, output_hook=sent.append, timeout=60)
    assert reply["content"]["status"] == "ok", reply["content"]
    return sent


def printed(kernel, code):
    return "".join(m["content"]["text"] for m in run(kernel, code) if m["msg_type"] == "stream")


def request(kernel, comm, subshell, number):
    content = {"kind": "request", "id": number, "method": "document", "params": {"call": 0, "doc": "hlo"}}
    data = {"method": "custom", "content": content}
    message = kernel.session.msg("comm_msg", {"comm_id": comm, "data": data})
    message["header"]["subshell_id"] = subshell
    kernel.shell_channel.send(message)


def reply_to(kernel, number, within):
    until = time.monotonic() + within
    while (left := until - time.monotonic()) > 0:
        message = kernel.get_iopub_msg(timeout=left)
        data = message["content"].get("data", {})
        if message["msg_type"] == "comm_msg" and data.get("method") == "custom" and data["content"]["id"] == number:
            return data["content"], message["buffers"]
    raise AssertionError(f"no reply in {within} s")


def wait_for_print(kernel, text, within=60):
    until = time.monotonic() + within
    while (left := until - time.monotonic()) > 0:
        if text in kernel.get_iopub_msg(timeout=left)["content"].get("text", ""):
            return
    raise AssertionError(f"{text!r} was not printed in {within} s")


def subshell(kernel):
    kernel.control_channel.send(kernel.session.msg("create_subshell_request", {}))
    return kernel.get_control_msg(timeout=60)["content"]["subshell_id"]


def test_the_one_message_of_a_quick_cell_has_all_forms(kernel):
    messages = [m for m in run(kernel, kernel.start) if m["msg_type"] in ("display_data", "update_display_data")]
    assert [m["msg_type"] for m in messages] == ["display_data"]
    assert list(messages[0]["content"]["data"]) == [
        "application/vnd.jupyter.widget-view+json",
        "application/vnd.jaxstage.v1+json",
        "text/html",
        "text/plain",
    ]


def test_requests_are_answered_while_a_cell_runs(kernel, tmp_path):
    answered = tmp_path / "answered"
    comm = printed(kernel, kernel.start + "\nprint(shown._panel.model_id)").split()[-1]
    thread = subshell(kernel)
    busy = f"import pathlib\nwhile not pathlib.Path({str(answered)!r}).exists(): time.sleep(0.05)"
    cell = kernel.execute(f"shown.refresh(made); print('busy', flush=True)\n{busy}")
    wait_for_print(kernel, "busy")
    try:
        for number in (1, 2):
            request(kernel, comm, thread, number)
            message, buffers = reply_to(kernel, number, within=60)
            assert message["result"]["mode"] == "full"
            assert len(buffers) == 1
    finally:
        answered.touch()
    assert kernel.get_shell_msg(timeout=60)["parent_header"]["msg_id"] == cell


REFRESHING = """
import itertools, pathlib, threading
session = get_ipython().kernel.session
send = session.send
def slowly(*args, **kwargs):
    sent = send(*args, **kwargs)
    if threading.current_thread() is threading.main_thread():
        time.sleep(0.05)
    return sent
session.send = slowly
for number in itertools.count():
    shown._panel.refresh(made, busy=bool(number % 2))
    if number == 2: print('busy', flush=True)
    if pathlib.Path({answered!r}).exists(): break
session.send = send
"""
"""A cell that does nothing but push the panel's state, each time for long enough that a request arrives meanwhile."""


def test_a_request_at_the_moment_of_a_refresh_is_answered_while_the_cell_runs(kernel, tmp_path):
    """What the panel sends while a cell runs does not route the page's requests to that cell's thread."""
    answered = tmp_path / "answered"
    comm = printed(kernel, kernel.start + "\nprint(shown._panel.model_id)").split()[-1]
    thread = subshell(kernel)
    cell = kernel.execute(REFRESHING.format(answered=str(answered)))
    wait_for_print(kernel, "busy")
    try:
        for number in range(100, 110):
            request(kernel, comm, thread, number)
            reply_to(kernel, number, within=60)
    finally:
        answered.touch()
    assert kernel.get_shell_msg(timeout=60)["parent_header"]["msg_id"] == cell


SLOW = """
import pathlib
print('busy', flush=True)
while not pathlib.Path({answered!r}).exists(): time.sleep(0.02)
late = display.Shown(made, patience=0.05)
late._timer.join()
late.finish(made)
"""
"""A cell that shows its panel late, once another was used."""


def test_a_slow_cell_keeps_its_panel_when_another_is_used_meanwhile(kernel, tmp_path):
    answered = tmp_path / "answered"
    comm = printed(kernel, kernel.start + "\nprint(shown._panel.model_id)").split()[-1]
    thread = subshell(kernel)
    cell = kernel.execute(SLOW.format(answered=str(answered)))
    wait_for_print(kernel, "busy")
    try:
        request(kernel, comm, thread, 3)
        reply_to(kernel, 3, within=60)
    finally:
        answered.touch()
    sent, until = [], time.monotonic() + 60
    while not sent or sent[-1]["content"].get("execution_state") != "idle":
        message = kernel.get_iopub_msg(timeout=until - time.monotonic())
        if message["msg_type"].endswith("display_data") or message["parent_header"].get("msg_id") == cell:
            sent.append(message)
    shown = [m for m in sent if m["msg_type"].endswith("display_data")]
    assert [m["msg_type"] for m in shown] == ["display_data", "update_display_data"]
    assert {m["parent_header"]["msg_id"] for m in shown} == {cell}
    kernel.get_shell_msg(timeout=60)
