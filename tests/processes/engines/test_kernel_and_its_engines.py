"""A real kernel that starts processes: a start is interrupted, a process hangs and is ended, the kernel is killed."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from engine_jobs import SETUP, descendants, folders, listening_addresses, still_run, until
from kernels import start_kernel


class KernelOfTest:
    """A kernel, and what its cells print."""

    def __init__(self, temporary: Path) -> None:
        self.manager, self.client = start_kernel(os.environ | {"TMPDIR": str(temporary)})
        self.pid = self.manager.provisioner.process.pid

    def run(self, cell: str, heard: Callable[[str], object] = lambda text: None) -> str:
        """The text of a cell's output, its error at the end; `heard` gets the text so far each time that it grows."""
        text, replies = "", self.client.execute(cell)
        while True:
            message = self.client.get_iopub_msg(timeout=120)
            if message["parent_header"].get("msg_id") != replies:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "status" and content["execution_state"] == "idle":
                return re.sub(r"\x1b\[[\d;]*m", "", text)
            text += text_of(kind, content)
            heard(text)

    def until_said(self, cell: str, words: str) -> str:
        """The text of a cell that is run again and again until it has some words."""
        deadline = time.monotonic() + 30
        while words not in (text := self.run(cell)):
            assert time.monotonic() < deadline, text
        return text


def text_of(kind: str, content: dict[str, Any]) -> str:
    """What a message shows."""
    if kind == "error":
        return "\n".join(content["traceback"])
    return content["text"] if kind == "stream" else content.get("data", {}).get("text/plain", "")


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KernelOfTest]:
    made = KernelOfTest(tmp_path_factory.mktemp("kernel"))
    yield made
    made.client.stop_channels()
    if made.manager.is_alive():
        made.manager.shutdown_kernel(now=True)
    made.manager.cleanup_resources()


@pytest.fixture(scope="module")
def temporary(kernel: KernelOfTest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(kernel.run("import tempfile; print(tempfile.gettempdir())").strip())


def test_an_interrupted_start_leaves_nothing(kernel: KernelOfTest, temporary: Path) -> None:
    kernel.run("%load_ext jaxstage_ext")
    seen: list[Any] = []

    def interrupt(text: str) -> None:
        if "starting" in text and not seen:
            seen.extend(descendants(kernel.pid))
            kernel.manager.interrupt_kernel()

    text = kernel.run("%processes start 2", interrupt)
    assert text.splitlines()[-1].startswith("KeyboardInterrupt") and "Traceback" not in text
    assert len(seen) >= 3 and still_run(seen) == [] and folders(temporary) == []
    assert "no processes" in kernel.run("%processes")


def test_a_process_that_hangs_is_named_with_its_line_and_ended(kernel: KernelOfTest) -> None:
    assert "2 processes" in kernel.run("%processes start 2")
    kernel.run(f"%%px\n{SETUP}")
    assert kernel.run("%%px\nprint(float(total(x)))").count("28.0") == 2
    kernel.run("%%px --noblock --targets 0\ny = 1\ntotal(x)")
    lines = kernel.until_said("%processes where", "jit_total").splitlines()
    assert re.fullmatch(
        r"process 0: in jit_total \(inferred\), a program of 2 processes, In \[\d+\] below %%px:2, .*s: total\(x\)",
        lines[0],
    ), lines
    assert lines[1] == "process 1: idle"
    assert "jit_total" in kernel.run("%processes")
    kernel.run("%processes end 1")
    assert "ended (killed by SIGKILL)" in kernel.run("%processes")
    kernel.until_said("%processes where", "process 0: idle")


def test_nothing_listens_beyond_loopback_and_nothing_outlives_a_killed_kernel(
    kernel: KernelOfTest, temporary: Path
) -> None:
    started = descendants(kernel.pid)
    assert len(started) >= 3 and folders(temporary)
    assert listening_addresses(started) <= {"127.0.0.1"}
    os.kill(kernel.pid, 9)
    until(lambda: still_run(started) == [] and folders(temporary) == [], seconds=10)
