"""A compile that takes long: what is said of it, and what stops it."""

from __future__ import annotations

import threading
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxstage_ext.api.inspect import run
from jaxstage_ext.api.inspection import Inspection
from jaxstage_ext.core.call import Call
from jaxstage_ext.core.targets import cross_compile
from jaxstage_ext.core.targets.target import LOCAL, parse_all
from jaxstage_ext.panel.jobs import GRACE
from jaxstage_ext.panel.requests import dispatch
from jaxstage_ext.panel.showing import printed
from jaxstage_ext.program.comparing.comparison_figures import target_figures
from jaxstage_ext.program.program import Program

PATIENCE = 60.0


def growing(scales: Any, x: Any) -> Any:
    """What XLA compiles for more than half a minute."""
    for scale in scales:
        x = jnp.sin(x * scale) + jnp.cos(x)
    return jnp.mean(x**2)


def test_a_compile_in_a_worker_is_stopped_and_one_in_the_kernel_names_the_way() -> None:
    asked: list[dict[str, Any]] = []
    timers: list[threading.Timer] = []

    def ask(inspection: Inspection) -> None:
        stage = inspection.program.staged.stages[-1]
        if stage.state != "running":
            return
        asked.append(dispatch.answer([inspection.program], "compile wait", {"call": 0})[0])
        if asked[-1]["can_stop"]:
            stop = lambda: dispatch.answer([inspection.program], "stop compile", {"call": 0})  # noqa: E731
            timers.append(threading.Timer(2.0, stop))
            timers[-1].start()
        else:
            assert dispatch.answer([inspection.program], "stop compile", {"call": 0})[0] == {"stopped": False}

    target = cross_compile.isolated(LOCAL)
    stopped = run(Call(jax.grad(growing), ([jnp.ones(64)] * 150, jnp.ones((8, 64)))), on_change=ask, targets=(target,))
    assert [stage["state"] for stage in stopped.summary()["stages"]] == ["done", "done", "interrupted"]
    error = stopped.summary()["error"]
    assert error is not None and error["interrupted"]
    assert error["message"] == "the compile worker for cpu was stopped", "what it printed is no reason for a cancel"
    assert asked[-1]["text"].endswith("the time limit stops it after 600 s.")
    run(Call(jnp.sin, (1.0,)), on_change=ask)
    assert asked[-1]["can_stop"] is False
    assert "jaxstage_ext.inspect(f, ..., isolate=True) compiles in a worker" in asked[-1]["text"]
    assert dispatch.answer([stopped.program], "compile wait", {"call": 0})[0] == {"text": None, "can_stop": False}


def waits(programs: list[Program], call: int) -> str | None:
    """What the ledger of a call waits for, once it was looked whether it can be counted; None where it was counted."""
    for _ in range(int(PATIENCE / GRACE)):
        reply = dispatch.reply(programs, {"id": 1, "method": "ledger", "params": {"call": call}})[0]
        pending = reply["result"].get("pending")
        if pending is None or pending["progress"] not in (None, "counting"):
            return pending and str(pending["progress"])
    raise AssertionError("it is being counted for ever")


def test_what_a_stage_will_give_is_on_its_way_while_it_runs_and_absent_only_then() -> None:
    said: list[Any] = []
    texts: list[Any] = []

    def ask(inspection: Inspection) -> None:
        if inspection.program.staged.stages[-1].state == "running":
            programs = list(inspection.program.targets.values())
            texts.append(target_figures(programs[1]).figures["flops"].text)
            said.append([waits(programs, call) for call in range(len(programs))])

    both = run(Call(jnp.tanh, (1.0,)), on_change=ask, targets=parse_all(["local", "cpu:2"]))
    assert said == [["compiling…", "compiling…"], [None, "compiling…"]]
    assert texts == ["compiling…", "compiling…"]
    assert target_figures(both.targets["cpu:2"].program).figures["flops"].value == 0
    assert not any(program.under_way for program in both.program.targets.values())
    failed = run(Call(lambda x: x.nothing, (1.0,)))
    refused = dispatch.reply([failed.program], {"id": 1, "method": "ledger", "params": {"call": 0}})[0]["error"]
    assert refused["kind"] == "absent"
    assert [stage["state"] for stage in failed.summary()["stages"]] == ["failed", "not reached", "not reached"]


def test_a_terminal_says_it_too(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    view, said = printed.Printed(), threading.Event()
    monkeypatch.setattr(printed, "LONG", 0.0)
    monkeypatch.setattr(printed, "print", lambda *text, **to: (print(*text, **to), said.set()), raising=False)

    def wait(inspection: Inspection) -> None:
        if inspection.program.staged.stages[-1].state == "running":
            view.refresh([inspection.program])
            assert said.wait(PATIENCE)

    view.finish([run(Call(jnp.sin, (1.0,)), on_change=wait).program])
    seen = capsys.readouterr()
    assert seen.err.startswith("compiling… XLA compiles in this kernel")
    assert "compile" in seen.out
