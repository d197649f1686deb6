"""What `make test` prints: a line for each suite, and what failed last of all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SUITES = Path(__file__).parents[1] / ".ci" / "suites.py"
HELPERS = Path(__file__).parent / "helpers"
MAKEFILE = """\
passes:
\t@echo 'FAILED is a word of a test that passed'; echo '12 passed, 1 skipped in 3.21s'
\t@printf '{"store/test_cache.py": [2.5, 2.25], "test_layers.py": [1.0, 0.5]}' > $$JAXSTAGE_FILE_SECONDS
colours:
\t@printf ' Tests  \\033[32m7 passed\\033[39m (7)\\n'
computes:
\t@python3 -c 'import time; list(iter(lambda: time.process_time() < 0.5, False))'
fails:
\t@echo 'E   assert 1 == 2'; echo 'FAILED tests/a.py::test_b[x-1] - assert 1 == 2'
\t@echo '1 failed, 3 passed in 0.1s'; exit 1
breaks:
\t@echo 'No rule'; exit 3
"""


@pytest.fixture
def run(tmp_path: Path):
    (tmp_path / "Makefile").write_text(MAKEFILE)

    def run(*arguments: str) -> tuple[int, list[str]]:
        command = [sys.executable, str(SUITES), *arguments]
        ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert not ended.stderr
        return ended.returncode, ended.stdout.splitlines()

    return run


def test_green_is_short(run):
    status, lines = run("--first", "colours", "passes", "computes")
    assert status == 0
    assert len(lines) == 10
    suites = [line.split()[1] for line in lines if line.startswith("ok")]
    assert suites[0] == "colours"
    assert sorted(suites[1:]) == ["computes", "passes"]
    assert any(line.endswith("12 passed, 1 skipped") for line in lines)
    slowest = lines[lines.index("slowest test files:") + 1 :]
    assert slowest[0].split() == ["2.5", "s", "2.2", "cpu", "store/test_cache.py", "(passes)"]
    assert slowest[1].split() == ["1.0", "s", "0.5", "cpu", "test_layers.py", "(passes)"]
    assert lines[-1] == "19 passed, 0 failed"


SUM = """\
import suites
ended = {suite.name: suite.processor for suite in suites.run(["computes", "passes"], 2)}
print(ended["computes"], ended["passes"], suites.processor_seconds())
"""


def test_processor_time_is_that_of_what_a_suite_runs(run, tmp_path):
    environment = os.environ | {"PYTHONPATH": str(SUITES.parent)}
    printed = subprocess.check_output([sys.executable, "-c", SUM], cwd=tmp_path, env=environment, text=True)
    computes, passes, total = map(float, printed.split())
    assert computes > 0.4
    assert 0 < passes < computes
    assert total == pytest.approx(computes + passes, abs=0.2)


def test_the_names_of_what_failed_come_last(run):
    status, lines = run("--at-once", "1", "fails", "passes", "breaks")
    assert status == 1
    assert lines[-3:] == [
        "15 passed, 1 failed",
        "failed: fails: tests/a.py::test_b[x-1]",
        "failed: breaks: exit status 2",
    ]
    assert "E   assert 1 == 2" in lines, "the end of its log"
    assert not any("FAILED is a word" in line for line in lines), "what passed shows no log"


def test_a_test_file_has_seconds_of_its_processes_too(tmp_path):
    spins = "import time\nwhile time.process_time() < 0.4: pass"
    (tmp_path / "test_spins.py").write_text(f"""
import subprocess, sys, time
def test_waits():
    time.sleep(0.5)
def test_spins():
    subprocess.run([sys.executable, "-c", {spins!r}])
""")
    conftest = (
        f"import sys; sys.path.insert(0, {str(HELPERS)!r})\nfrom file_seconds import register as pytest_configure"
    )
    (tmp_path / "conftest.py").write_text(conftest)
    environment = os.environ | {"JAXSTAGE_FILE_SECONDS": str(tmp_path / "seconds.json")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "1", str(tmp_path)]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, stdout=subprocess.DEVNULL)
    [(seconds, processor)] = json.loads((tmp_path / "seconds.json").read_text()).values()
    assert processor >= 0.4
    assert seconds >= 0.9
    assert seconds - processor > 0.3, "who sleeps takes nothing of the processor"


def test_what_files_took_is_written_for_later_runs(run, tmp_path):
    (tmp_path / "tests").mkdir()
    run("passes", "colours")
    (tmp_path / "build/logs/other.json").write_text('{"test_layers.py": [4.0, 3.0]}')
    assert run("--durations")[0] == 0
    written = json.loads((tmp_path / "tests/durations.json").read_text())
    assert written == {"store/test_cache.py": 2.5, "test_layers.py": 4.0}


def test_nothing_runs_after_a_first_suite_that_failed(run):
    status, lines = run("--first", "breaks", "passes")
    assert status == 1
    assert not any("passes" in line for line in lines[1:])
