"""What each test file takes, and the order that follows: the files that take longest come first.

A worker of pytest-xdist gets whole files, so that the last of them decides when a run ends. `durations.json` has the
seconds of an earlier run; `make test-all` writes it anew. A file that it does not name is taken for a long one.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
KNOWN = TESTS / "durations.json"
REPORT = "JAXSTAGE_FILE_SECONDS"
"""The environment variable with the path of the file that a run writes, {test file: seconds}."""


def known() -> dict[str, float]:
    """Seconds of each test file in an earlier run."""
    return dict(json.loads(KNOWN.read_text())) if KNOWN.exists() else {}


def longest_first(items: list[pytest.Item]) -> None:
    """Order tests by the seconds of their files; those of one file stay together, in the order of the file."""
    seconds = known()
    order = {item.path: str(item.path.relative_to(TESTS)) for item in items if item.path.is_relative_to(TESTS)}
    items.sort(key=lambda item: (-seconds.get(name := order.get(item.path, ""), float("inf")), name))


class FileSeconds:
    """The plugin that adds up what the tests of each file took: set-up, call and teardown."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.seconds: defaultdict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        name = report.nodeid.partition("::")[0].removeprefix("tests/")
        self.seconds[name] += report.duration

    def pytest_sessionfinish(self) -> None:
        rounded = {name: round(seconds, 1) for name, seconds in sorted(self.seconds.items())}
        self.path.write_text(json.dumps(rounded, indent=1) + "\n")


def register(config: pytest.Config) -> None:
    """Report seconds where the environment asks for it; once, in the process that hears of all tests."""
    if (path := os.environ.get(REPORT)) and not hasattr(config, "workerinput"):
        config.pluginmanager.register(FileSeconds(Path(path)))
