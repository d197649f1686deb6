"""What the tests say of a mutant."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.mutant import Mutant
from tests.mutants.tree import environment

LONGEST = 900
"""Seconds for the tests of one mutant; they take far less."""
_FAILED = 1
_PYTEST_FAILED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)


@dataclass(frozen=True)
class Verdict:
    """How the tests ended.

    Attributes:
      failed: the test that failed first; None where all passed.
      problem: what kept them from running; None where they ran.
    """

    failed: str | None = None
    problem: str | None = None


def verdict(tree: Path, mutant: Mutant) -> Verdict:
    """Run the mutant's tests on the copy as it is, until one fails."""
    run = _vitest if mutant.is_front_end else _pytest
    try:
        return run(tree, mutant.tests)
    except subprocess.TimeoutExpired:
        return Verdict(problem=f"took over {LONGEST} s")


def _pytest(tree: Path, tests: Sequence[str]) -> Verdict:
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--tb=short", *tests]
    ended = _run(command, tree, tree)
    if ended.returncode not in (0, _FAILED):
        return Verdict(problem="\n".join(ended.stdout.splitlines()[-15:]))
    found = _PYTEST_FAILED.search(ended.stdout)
    return Verdict(failed=found[1] if found else "?") if ended.returncode else Verdict()


def _vitest(tree: Path, tests: Sequence[str]) -> Verdict:
    report = tree / "vitest.json"
    command = ["npx", "--no-install", "vitest", "run", "--bail=1", "--reporter=json", f"--outputFile={report}", *tests]
    ended = _run(command, tree / "labextension", tree)
    if not report.exists():
        return Verdict(problem=ended.stderr[-1000:])
    files = json.loads(report.read_text())["testResults"]
    report.unlink()
    cases = [case for file in files for case in file["assertionResults"]]
    failed = next((case["fullName"] for case in cases if case["status"] == "failed"), None)
    if failed is None and ended.returncode:
        return Verdict(problem="; ".join(file["message"] for file in files)[:1000])
    return Verdict(failed=failed)


def _run(command: Sequence[str], folder: Path, tree: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, env=environment(tree), capture_output=True, text=True, check=False, timeout=LONGEST
    )
