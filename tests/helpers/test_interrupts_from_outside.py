"""An interrupt of the suite ends it, also where a test keeps the KeyboardInterrupt to itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TESTS = """
import contextlib, os, signal, interrupts
def test_first():
    with contextlib.suppress(KeyboardInterrupt):
        {send}
def test_second(): pass
"""


@pytest.mark.parametrize(
    ("send", "ended"),
    [("os.kill(os.getpid(), signal.SIGINT)", "1 passed"), ("interrupts.interrupt()", "2 passed")],
    ids=["from outside", "its own"],
)
def test_an_interrupt_that_a_test_keeps_ends_the_session(tmp_path: Path, send: str, ended: str) -> None:
    (tmp_path / "conftest.py").write_text("from interrupts import pytest_runtest_logfinish, pytest_runtest_logstart\n")
    (tmp_path / "test_two.py").write_text(TESTS.format(send=send))
    path = ["-o", f"pythonpath={Path(__file__).parent}", "-p", "no:cacheprovider"]
    done = subprocess.run([sys.executable, "-m", "pytest", *path, "."], cwd=tmp_path, capture_output=True, text=True)
    assert ended in done.stdout
    assert ("KeyboardInterrupt" in done.stdout) == (ended == "1 passed"), done.stdout
