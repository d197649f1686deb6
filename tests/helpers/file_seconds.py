"""What each test file takes, and the order that follows: the files that take longest come first.

A worker of pytest-xdist gets whole files, so that the last of them decides when a run ends. `durations.json` has the
seconds of an earlier run. A file that it does not name is taken for a long one. Seconds of the processor, which hold on
a busy machine too, are those of the test process and of the processes that it started and has waited for.
"""

from __future__ import annotations

import json
import os
import resource
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
KNOWN = TESTS / "durations.json"
REPORT = "JAXSTAGE_FILE_SECONDS"
"""The environment variable with the path of the file that a run writes, {test file: [seconds, of the processor]}.

Beside it lies one that ends in `.each`, by test.
"""
PROCESSOR = "processor seconds"
_BEGAN = pytest.StashKey[float]()


def known() -> dict[str, float]:
    """Seconds of each test file in an earlier run."""
    return dict(json.loads(KNOWN.read_text())) if KNOWN.exists() else {}


def longest_first(items: list[pytest.Item]) -> None:
    """Order tests by the seconds of their files; those of one file stay together, in the order of the file."""
    seconds = known()
    paths = {item.path for item in items}
    order = {path: str(path.relative_to(TESTS)) for path in paths if path.is_relative_to(TESTS)}
    items.sort(key=lambda item: (-seconds.get(name := order.get(item.path, ""), float("inf")), name))


def processor_seconds() -> float:
    """Of this process, and of those that it started and has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


class ProcessorSeconds:
    """The plugin, in each test process, that notes what a test took of the processor, from set-up to teardown."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        item.stash[_BEGAN] = processor_seconds()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, None, None]:
        try:
            yield
        finally:
            item.user_properties.append((PROCESSOR, processor_seconds() - item.stash[_BEGAN]))


class FileSeconds:
    """The plugin that adds up what each test, and those of each file, took: set-up, call and teardown."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.taken: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
        self.each: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        told = (seconds for name, seconds in report.user_properties if name == PROCESSOR)
        processor = sum(told) if report.when == "teardown" else 0.0
        file = report.nodeid.partition("::")[0].removeprefix("tests/")
        for taken in (self.taken[file], self.each[report.nodeid]):
            taken[0] += report.duration
            taken[1] += processor

    def pytest_sessionfinish(self) -> None:
        for path, all_taken, digits in ((self.path, self.taken, 1), (self.path.with_suffix(".each"), self.each, 2)):
            rounded = {name: [round(seconds, digits) for seconds in taken] for name, taken in sorted(all_taken.items())}
            path.write_text(json.dumps(rounded) + "\n")


def register(config: pytest.Config) -> None:
    """Report seconds where the environment asks for it; the file is written by the process that hears of all tests."""
    if path := os.environ.get(REPORT):
        config.pluginmanager.register(ProcessorSeconds())
        if not hasattr(config, "workerinput"):
            config.pluginmanager.register(FileSeconds(Path(path)))
