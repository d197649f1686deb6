"""The magics in a real Jupyter kernel: event loop, interrupts, replies."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from kernels import start_kernel

psutil = pytest.importorskip("psutil", reason="ipykernel's own dependency")

REPO = Path(__file__).parents[2]
STARTING_TAKES = 1.0
"""Seconds of processor time that a worker spends before it compiles, at most."""
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(REPO), "JAX_PLATFORMS": "cpu"}
SETUP = """
%load_ext jaxstage_ext
import asyncio, time, jax, jax.numpy as jnp
w, x = jnp.ones((4, 3)), jnp.ones((2, 4))
def loss(w, x):
    return jnp.sum(jnp.tanh(x @ w))
waited = False
def slow(x):
    global waited
    print("waits")
    for _ in range(200):
        time.sleep(0.1)
    waited = True
    return x
"""


@dataclass
class Reply:
    """What a front end gets for a cell."""

    content: dict[str, Any]
    outputs: list[dict[str, Any]] = field(default_factory=list)

    @property
    def panel(self) -> str:
        """The last state of the panel, as text."""
        texts = [o["content"]["data"].get("text/plain", "") for o in self.outputs if "display_data" in o["msg_type"]]
        return next((text for text in reversed(texts) if "┌" in text), "")

    @property
    def errors(self) -> list[str]:
        shown = ["\n".join(o["content"]["traceback"]) for o in self.outputs if o["msg_type"] == "error"]
        return [re.sub(r"\x1b\[[0-9;]*m", "", text) for text in shown]

    @property
    def values(self) -> list[str]:
        return [o["content"]["data"]["text/plain"] for o in self.outputs if o["msg_type"] == "execute_result"]


class Kernel:
    """A running kernel and its client."""

    def __init__(self, process: Any, client: Any) -> None:
        self.process, self.client = process, client

    def run(self, cell: str) -> Reply:
        return self._run(cell, lambda output: None)

    def run_until_it_waits(self, cell: str, then: Callable[[], None] | None = None) -> Reply:
        """What befalls the kernel, an interrupt unless it is said, once this cell has printed that it waits.

        Printed without a flush, so that it is heard while the cell sleeps: an interrupt amid a flush can fall into a
        callback, and Python drops what callbacks raise.
        """

        def heard(output: dict[str, Any]) -> None:
            if "waits" in output["content"].get("text", ""):
                (then or self.process.interrupt_kernel)()

        return self._run(cell, heard)

    def run_until_compiling(self, cell: str, then: Callable[[Any], None]) -> Reply:
        """What befalls the kernel's worker in the middle of a compile of this cell."""
        threading.Thread(target=self._when_compiling, args=(then,), daemon=True).start()
        return self.run(cell)

    def _when_compiling(self, then: Callable[[Any], None]) -> None:
        kernel = psutil.Process(self.process.provisioner.pid)
        busy: list[Any] = []
        while not busy:
            time.sleep(0.05)
            busy = [child for child in kernel.children() if child.cpu_times().user > STARTING_TAKES]
        then(busy[0])

    def _run(self, cell: str, heard: Callable[[dict[str, Any]], None]) -> Reply:
        outputs: list[dict[str, Any]] = []

        def hear(output: dict[str, Any]) -> None:
            outputs.append(output)
            heard(output)

        return Reply(self.client.execute_interactive(cell, output_hook=hear, timeout=120)["content"], outputs)

    def complete(self, code: str) -> list[str]:
        return self.client.complete(code, len(code), reply=True, timeout=60)["content"]["matches"]


@pytest.fixture(scope="module")
def kernel() -> Iterator[Kernel]:
    process, client = start_kernel(ENVIRONMENT)
    try:
        made = Kernel(process, client)
        assert made.run(SETUP).content["status"] == "ok"
        yield made
    finally:
        client.stop_channels()
        process.shutdown_kernel(now=True)


def test_a_cell_shows_its_panel_and_nothing_else(kernel: Kernel) -> None:
    reply = kernel.run("%%compile\nloss(w, x)")
    assert reply.content["status"] == "ok"
    assert "loss(w: f32[4,3], x: f32[2,4]) -> f32[]" in reply.panel
    assert reply.errors == reply.values == []


def test_run_gives_the_cells_result(kernel: Kernel) -> None:
    reply = kernel.run("%%compile --run\nloss(w, x)")
    assert [value[:13] for value in reply.values] == ["Array(5.99597"]
    assert kernel.run("_").values == reply.values


def test_await_runs_in_the_loop_of_the_other_cells(kernel: Kernel) -> None:
    kernel.run("task = asyncio.ensure_future(asyncio.sleep(0.01, 2.0))\nloop = asyncio.get_running_loop()")
    reply = kernel.run("%%compile --run\nsame = asyncio.get_running_loop() is loop\nloss(w * await task, x)")
    assert reply.content["status"] == "ok"
    assert len(reply.values) == 1
    assert kernel.run("same").values == ["True"]


@pytest.mark.parametrize("first", ["1/0", "await asyncio.sleep(0)\n1/0"])
def test_an_error_is_shown_once_and_fails_the_cell(kernel: Kernel, first: str) -> None:
    reply = kernel.run(f"%%compile\n{first}\nloss(w, x)")
    assert (reply.content["status"], reply.content["ename"]) == ("error", "ZeroDivisionError")
    assert len(reply.errors) == 1
    assert "jaxstage" not in reply.errors[0]
    assert reply.panel == ""


def test_a_syntax_error_keeps_its_name(kernel: Kernel) -> None:
    plain = kernel.run("loss(w,\n")
    reply = kernel.run("%%compile\nloss(w,\n")
    assert (reply.content["status"], reply.content["ename"]) == ("error", plain.content["ename"])
    assert len(reply.errors) == 1
    assert "jaxstage" not in reply.errors[0]


def test_a_failing_stage_fails_the_cell_in_one_line(kernel: Kernel) -> None:
    reply = kernel.run("%%compile\nloss(w, w)")
    assert (reply.content["status"], reply.content["ename"]) == ("error", "TypeError")
    assert "trace failed" in reply.panel
    assert [error.count("\n") for error in reply.errors] == [0]


def test_a_mistake_in_an_option_fails_the_cell(kernel: Kernel) -> None:
    reply = kernel.run("%%compile --nope\n1")
    assert (reply.content["status"], reply.content["ename"]) == ("error", "UsageError")


@pytest.mark.parametrize("before", ["", "await asyncio.sleep(0)\n"], ids=["plain", "awaiting"])
def test_an_interrupt_keeps_the_panel_and_shows_one_line(kernel: Kernel, before: str) -> None:
    kernel.run("waited = False")
    reply = kernel.run_until_it_waits(f"%%compile\n{before}slow(x)")
    assert (reply.content["status"], reply.content.get("ename")) == ("error", "KeyboardInterrupt"), reply
    assert "trace interrupted" in reply.panel
    assert kernel.run("waited").values == ["False"], "it ends at once"
    assert [error.count("\n") for error in reply.errors] == [0]
    assert kernel.run("1 + 1").values == ["2"]


def test_five_interrupts_at_once_keep_the_panel(kernel: Kernel) -> None:
    def interrupt() -> None:
        for _ in range(5):
            kernel.process.interrupt_kernel()
            time.sleep(0.005)

    reply = kernel.run_until_it_waits(
        "%%compile\nslow(x)", interrupt
    )  # the last may come after the magic's end, where IPython shows it
    assert (reply.content["status"], reply.content["ename"]) == ("error", "KeyboardInterrupt")
    assert "trace interrupted" in reply.panel
    assert kernel.run("1 + 1").values == ["2"]


@pytest.mark.parametrize("before", ["", "await asyncio.sleep(0)\n"], ids=["plain", "awaiting"])
def test_an_interrupted_profile_keeps_what_was_recorded(kernel: Kernel, before: str) -> None:
    kernel.run(
        "from jaxstage_ext.core.jax_private import profiler\n"
        "inner = jax.jit(lambda w, x: loss(w, x) * 3)\n"
        "def looped(w, x):\n"
        "    for number in range(200):\n"
        "        inner(w, x).block_until_ready()\n"
        "        number == 9 and print('waits')\n"
        "        time.sleep(0.1)\n"
        "inner(w, x)"
    )
    reply = kernel.run_until_it_waits(f"%%profile -o p --cold\n{before}looped(w, x)")
    assert (reply.content["status"], reply.content["ename"]) == ("error", "KeyboardInterrupt"), reply
    assert "KeyboardInterrupt after" in reply.panel
    assert kernel.run("p.timeline.attributed > 0.5, profiler.session_runs()").values == ["(True, False)"]
    assert kernel.run("%%profile\ninner(w, x)").content["status"] == "ok"


@pytest.mark.parametrize("name", ["SystemExit", "GeneratorExit", "StopIteration", "MemoryError", "BaseException"])
def test_whatever_a_function_raises_fails_the_cell_in_one_line(kernel: Kernel, name: str) -> None:
    reply = kernel.run(f"%%compile\ndef bad(x):\n    raise {name}('why')\nbad(x)")
    assert (reply.content["status"], reply.content["ename"]) == ("error", name)
    assert "trace failed" in reply.panel and "why" in reply.panel
    assert [error.count("\n") for error in reply.errors] == [0]
    assert "jaxstage" not in reply.errors[0]
    assert kernel.run("1 + 1").values == ["2"]


def test_options_complete(kernel: Kernel) -> None:
    assert kernel.complete("%%compile --st") == ["--static-argnames", "--static-argnums"]


ENDLESS = """
import numpy as np
image = np.random.default_rng(0).random((1000, 1000), np.float32)
def sums():
    return jax.lax.reduce_window(image, 0.0, jax.lax.add, (64, 64), (1, 1), "SAME")
"""


@pytest.mark.parametrize("options", ["--isolate", "-t cpu:2 -t cpu:4"])
def test_an_interrupt_ends_a_compile_in_the_worker(kernel: Kernel, options: str) -> None:
    kernel.run(ENDLESS)
    reply = kernel.run_until_compiling(f"%compile {options} sums()", lambda _: kernel.process.interrupt_kernel())
    assert reply.content["ename"] == "KeyboardInterrupt"
    assert kernel.run("from jaxstage_ext.worker import pool; pool.running()").values == ["{}"]
    assert "interrupted in compile" in reply.panel
    assert kernel.run("%compile -t cpu:2 --run -t local loss(w, x)").content["status"] == "ok"


def test_a_compile_that_dies_leaves_the_kernel_and_its_streams_alone(kernel: Kernel) -> None:
    kernel.run(ENDLESS)
    reply = kernel.run_until_compiling("%compile -t cpu:2 sums()", lambda worker: worker.send_signal(signal.SIGSEGV))
    assert reply.content["ename"] == "WorkerDied"
    assert "ended by SIGSEGV" in reply.panel
    assert not [output for output in reply.outputs if output["msg_type"] == "stream"]
    assert kernel.run("%compile -t cpu:2 loss(w, x)").content["status"] == "ok"


TOLD = """
hlo = looked.documents["hlo"]
looked.summary()["stages"][-1]["note"], sorted({str(hlo.source_of(n + 1)) for n in range(len(hlo))} - {"None"})
"""


def test_a_cell_that_runs_again_is_not_compiled_again(kernel: Kernel) -> None:
    cell = "%%compile -o looked\ndef twice(x):\n    return jnp.sum(x * 2)\ntwice(x)\n"
    told = []
    for _ in range(2):
        count = kernel.run(cell).content["execution_count"]
        told.append(kernel.run(TOLD).values[-1])
        assert f"In [{count}]:3 (twice)" in told[-1], "its lines are those of this run"
    assert "cached; the first compile took " not in told[0]
    assert "cached; the first compile took " in told[1]


def test_a_later_kernel_asks_no_compiler_again(kernel: Kernel, tmp_path: Path) -> None:
    cell = "%%compile -o looked -t cpu:2\ndef twice(x):\n    return jnp.sum(x * 2)\ntwice(x)\n"
    folder = f"%config JAXStage.cache_dir = {str(tmp_path)!r}"
    kernel.run(folder)
    kernel.run(cell)
    pid = kernel.run("import os; os.getpid()").values[-1]
    process, client = start_kernel(ENVIRONMENT)
    try:
        later = Kernel(process, client)
        own = later.run("import os; os.getpid()").values[-1]
        if len(own) != len(pid):
            pytest.skip("process ids of different length make different modules")
        for code in (SETUP, folder, cell):
            later.run(code)
        told = later.run(TOLD).values[-1]
        assert "from the inspection cache" in told
        assert ":3 (twice)" in told and "In [" in told and pid not in told
    finally:
        client.stop_channels()
        process.shutdown_kernel(now=True)
        kernel.run("%config JAXStage.cache_dir = ''")
