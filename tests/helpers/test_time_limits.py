"""A test that takes longer than its timeout ends the run, which names it and shows where it was."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HELPERS = Path(__file__).parent
CONFTEST = f"""
import sys
sys.path.insert(0, {str(HELPERS)!r})
from time_limits import TimeLimits
def pytest_configure(config):
    config.pluginmanager.register(TimeLimits())
"""
HANGS = """
import time
def test_ends():
    pass
def test_hangs():
    print("before it hangs")
    time.sleep(60)
"""


@pytest.mark.parametrize("processes", [(), ("-n", "1")])
def test_a_test_that_hangs_ends_the_run(tmp_path: Path, processes: tuple[str, ...]) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_it.py").write_text(HANGS)
    options = ["-q", "-p", "no:cacheprovider", "--timeout=1", "--timeout-method=thread", *processes]
    command = [sys.executable, "-m", "pytest", *options, str(tmp_path)]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=50)
    assert run.returncode == 1
    printed = run.stdout + run.stderr
    assert "test_hangs" in printed
    assert "time.sleep(60)" in printed if not processes else "crashed" in printed
