"""Runs suites of checks and says in one line each how they ended.

    python .ci/suites.py --at-once 2 --first environments test-newest lint types
    python .ci/suites.py --durations

A suite is a target of the Makefile; as many as said run side by side, in this order. What a suite prints goes to
build/logs/NAME.log. At the end: the slowest test files, seconds of wall and of processor time; if something failed,
the end of that suite's log, and the names of what failed last of all.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import os
import re
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

LOGS = Path("build/logs")
DURATIONS = Path("tests/durations.json")
SLOWEST, TAIL = 10, 100
SUBREAPER = 36
"""Of linux/prctl.h: what a suite leaves running becomes our child, and its processor time is counted with ours."""
ENDING = re.compile(r"^=* ?(?:Tests +)?((?:\d+ (?:passed|failed|skipped|errors?|deselected|warnings?)[ ,|]*)+)", re.M)
COUNT = re.compile(r"(\d+) (passed|failed|skipped|error)")
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+.*?)(?: - .*)?$|^ *FAIL +(\S.*)$", re.M)


@dataclass
class Suite:
    """A suite under way or ended; times in seconds, of the wall and of the processor."""

    name: str
    process: subprocess.Popen[bytes]
    began: float
    seconds: float = 0.0
    processor: float = 0.0
    status: int | None = None

    @property
    def log(self) -> Path:
        return LOGS / f"{self.name}.log"

    @property
    def text(self) -> str:
        return re.sub(r"\x1b\[[\d;]*m", "", self.log.read_text("utf-8", "replace"))

    @property
    def counts(self) -> Counter[str]:
        """Tests by outcome; empty for what counts none."""
        endings = ENDING.findall(self.text)
        return Counter({what: int(number) for number, what in COUNT.findall(endings[-1])}) if endings else Counter()

    @property
    def failed(self) -> list[str]:
        """Names of the tests that failed, or of the suite where it names none."""
        if not self.status:
            return []
        names = [one or other for one, other in FAILED.findall(self.text)]
        return [f"{self.name}: {name}" for name in dict.fromkeys(names)] or [f"{self.name}: exit status {self.status}"]

    def end(self, status: int, processor: float) -> None:
        self.seconds, self.processor = time.monotonic() - self.began, processor
        self.status = self.process.returncode = status

    def __str__(self) -> str:
        counts = ", ".join(f"{number:,} {what}" for what, number in self.counts.items())
        state = "ok    " if self.status == 0 else "FAILED"
        return f"{state} {self.name:<16}{minutes(self.seconds):>7}{minutes(self.processor):>7} cpu  {counts}".rstrip()


def minutes(seconds: float) -> str:
    """`3:07` of 187 seconds."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def begin(name: str) -> Suite:
    """Start `make NAME`, its output to its log."""
    LOGS.mkdir(parents=True, exist_ok=True)
    environment = os.environ | {"JAXSTAGE_FILE_SECONDS": str(LOGS.resolve() / f"{name}.json")}
    environment.pop("MAKELEVEL", None)
    (LOGS / f"{name}.json").unlink(missing_ok=True)
    with (LOGS / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(["make", name], stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=environment)
    return Suite(name, process, time.monotonic())


def run(names: Sequence[str], at_once: int) -> Iterator[Suite]:
    """Each suite as it ends. Processes that a suite left behind are waited for and not told of."""
    waiting, under_way = [*names], dict[int, Suite]()
    while waiting or under_way:
        while waiting and len(under_way) < at_once:
            suite = begin(waiting.pop(0))
            under_way[suite.process.pid] = suite
        pid, status, used = os.wait4(-1, 0)
        if suite_ended := under_way.pop(pid, None):
            suite_ended.end(os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime)
            yield suite_ended


def slowest() -> list[str]:
    """The test files that took longest."""
    files = [
        (seconds, processor, f"{name} ({path.stem})")
        for path in LOGS.glob("*.json")
        for name, (seconds, processor) in json.loads(path.read_text()).items()
    ]
    return [f"{s:6.1f} s {p:6.1f} cpu  {name}" for s, p, name in sorted(files, reverse=True)[:SLOWEST]]


def remember() -> None:
    """Write what each test file took in the last run, the most of all suites, for the order of later runs."""
    most: dict[str, float] = {}
    for path in LOGS.glob("*.json"):
        for name, (seconds, _) in json.loads(path.read_text()).items():
            most[name] = max(seconds, most.get(name, 0.0))
    DURATIONS.write_text(json.dumps(dict(sorted(most.items())), indent=1) + "\n")


def processor_seconds() -> float:
    """Of every process that we waited for, and theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> int:
    """Run what the command line says; 1 if a suite failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--at-once", type=int, default=2, metavar="N")
    parser.add_argument("--first", action="append", default=[], metavar="SUITE", help="runs before the others, alone")
    parser.add_argument(
        "--durations", action="store_true", help=f"write {DURATIONS} from the last run, and run nothing"
    )
    parser.add_argument("suites", nargs="*", metavar="SUITE")
    given = parser.parse_args()
    if given.durations:
        remember()
        return 0
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(SUBREAPER, 1)
    for old in [*LOGS.glob("*.json"), *LOGS.glob("*.log")]:
        old.unlink()
    print(f"What the suites print is in {LOGS}/", flush=True)
    began, ended = time.monotonic(), list[Suite]()
    for names, at_once in (*(([first], 1) for first in given.first), (given.suites, given.at_once)):
        if not any(suite.status for suite in ended):
            for suite in run(names, at_once):
                print(suite, flush=True)
                ended.append(suite)
    return report(ended, time.monotonic() - began)


def report(ended: Sequence[Suite], seconds: float) -> int:
    """Print what all suites took and what failed; the exit status."""
    if lines := slowest():
        print("slowest test files:", *lines, sep="\n")
    failed = [name for suite in ended for name in suite.failed]
    for suite in ended:
        if suite.status:
            print(f"\n== the end of {suite.log}", *suite.text.splitlines()[-TAIL:], sep="\n")
    counts = sum((suite.counts for suite in ended), Counter[str]())
    print(f"\n{minutes(seconds)} minutes, {processor_seconds() / 60:.1f} processor minutes")
    print(f"{counts['passed']} passed, {counts['failed'] + counts['error']} failed")
    for name in failed:
        print(f"failed: {name}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
