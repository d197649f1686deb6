"""A suite in two processes, each of which imports and collects its own half of the files.

Collecting all of them is a minute of a processor in a fresh clone, which two workers of pytest-xdist would both do.
JAXSTAGE_SHARD says which half: "1/2" or "2/2". The files are dealt out by their seconds, the longest first, to the
half that has least.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import file_seconds

SHARD = os.environ.get("JAXSTAGE_SHARD", "")
ELSEWHERE = ("browser", "benchmarks", "mutants")
"""Folders of tests/ that suites of their own have."""


def dealt(seconds: Mapping[str, float], files: Iterable[str], shards: int) -> list[list[str]]:
    """Files in as many shards, about as long as each other; one without seconds is taken for a middling one."""
    unknown = sorted(seconds.values())[len(seconds) // 2] if seconds else 1.0
    taken, dealt_out = [0.0] * shards, list[list[str]]([] for _ in range(shards))
    for file in sorted(files, key=lambda file: (-seconds.get(file, unknown), file)):
        least = taken.index(min(taken))
        taken[least] += seconds.get(file, unknown)
        dealt_out[least].append(file)
    return dealt_out


@functools.cache
def mine(shard: str = SHARD) -> frozenset[Path] | None:
    """The files of a shard such as "1/2"; None where there is one suite."""
    if not shard:
        return None
    number, shards = map(int, shard.split("/"))
    tests = file_seconds.TESTS
    files = (path.relative_to(tests) for path in tests.rglob("test_*.py"))
    named = (str(file) for file in files if file.parts[0] not in ELSEWHERE)
    return frozenset(tests / file for file in dealt(file_seconds.known(), named, shards)[number - 1])


def is_elsewhere(path: Path) -> bool:
    """Whether a test file belongs to another shard than this process's."""
    ours = mine()
    return ours is not None and path.name.startswith("test_") and path.is_file() and path not in ours
