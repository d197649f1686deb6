"""On a push each program is compiled for this machine and one device that is not here; `make test-all` has all pairs.

Files whose tests are programs times targets cost most of what compilers take. The device is chosen by the program's
name, so that each target has its share of programs, and all that is asked of a program is asked of one compile.
"""

from __future__ import annotations

import os
import zlib
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import pytest

ROOMS = (
    "truth/",
    "program/",
    "findings/",
    "core/targets/test_targets_truth.py",
    "core/targets/test_stored_under_one_key.py",
    "analysis/cost/test_cost_oracles.py",
)
"""Where tests are programs times targets, by how their paths in tests/ begin."""
ABOUT_THE_TARGET = (
    "truth/test_precision_truth.py",
    "truth/test_overlap_links.py",
    "truth/test_fits.py",
    "truth/test_roofline_truth.py",
    "findings/test_planted.py",
)
"""Exceptions: each pair has a figure or a fault of its own."""
HERE = ("local", "cpu")


def targets_of(item: pytest.Item) -> tuple[str, str] | None:
    """The target of a case, and what its name says besides; None of a case without one."""
    given: dict[str, Any] = getattr(getattr(item, "callspec", None), "params", {})
    target = getattr(given.get("expectation"), "target", given.get("target"))
    name = item.name.partition("[")[2].removesuffix("]")
    if not isinstance(target, str) or target not in name:
        return None
    return target, name.replace(target, "", 1)


def turn(name: str, targets: Iterable[str]) -> str:
    """The target whose turn it is for a program."""
    some = sorted(targets)
    return some[zlib.crc32(name.encode()) % len(some)]


def left_out(items: Iterable[pytest.Item], tests: os.PathLike[str]) -> set[pytest.Item]:
    """Those of a further target that is not here."""
    by_file: dict[str, list[tuple[pytest.Item, str, str]]] = defaultdict(list)
    for item in items:
        path = os.path.relpath(item.path, tests)
        found = targets_of(item)
        if found and path.startswith(ROOMS) and path not in ABOUT_THE_TARGET and not found[0].startswith(HERE):
            by_file[path].append((item, *found))
    return {item for cases in by_file.values() for item in further(cases)}


def further(cases: list[tuple[pytest.Item, str, str]]) -> set[pytest.Item]:
    """Of one file: cases whose like runs on the target whose turn it is."""
    by_program, by_case = defaultdict(set), defaultdict(set)
    for item, target, rest in cases:
        by_program[program_of(item, rest)].add(target)
        by_case[function_of(item), rest].add(target)

    def chosen(item: pytest.Item, rest: str) -> str:
        program, some = program_of(item, rest), by_case[function_of(item), rest]
        first = turn(program, by_program[program])
        return first if first in some else turn(program, some)

    return {item for item, target, rest in cases if chosen(item, rest) != target}


def function_of(item: pytest.Item) -> str:
    return item.name.partition("[")[0]


def program_of(item: pytest.Item, rest: str) -> str:
    """The first part of a case's name, beside its target; the test's own where it has no other."""
    return rest.strip("-").partition("-")[0] or function_of(item)
