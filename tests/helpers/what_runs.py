"""What `make test` leaves out, and why: on the oldest versions, and on both.

JAXSTAGE_SUITE is "oldest" or "newest" there. `make test-all`, and pytest by itself, leave nothing out.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import one_absent_target
import pytest
import seldom_cases

TESTS = Path(__file__).parents[1]
SUITE = os.environ.get("JAXSTAGE_SUITE", "")
IS_OLDEST_SUITE = SUITE == "oldest"
FREE_OF_JAX = ("analysis", "ir", "report", "search", "store", "views")
"""Rooms without JAX, as `test_layers.WITHOUT_JAX` proves: what they read of both versions' artefacts is in golden/."""
ONCE = {
    **dict.fromkeys(FREE_OF_JAX, "the room is free of JAX; its readers read golden files of both versions"),
    "panel/requests": "the room is free of JAX; the panel in a kernel runs on both",
    "profiling/analysis": "reads recorded profiles",
    "profiling/test_profiles_of_processes.py": "recordings made by hand; a real job's are in processes/test_shown.py",
    "profiling/chrome": "reads recorded profiles",
    "profiling/lanes": "reads recorded profiles",
    "profiling/xplane": "reads recorded profiles",
    "hostile": "attacks readers, folders and requests, which are free of JAX",
    "notebooks": "the notebooks show the newest JAX; magics, kernels and the panel run on both",
    "helpers": "tests of the tests",
    "showcase": "files, which were made with the newest JAX",
    "compilation/test_listener_faults.py": "faults put into our own functions; what JAX tells them is tested on both",
    "wording": "sentences made from facts by hand",
    "command": "files, exit statuses and JSON, which are ours; findings have their programs on both",
    "agents": "tools and a kernel that is asked, which are ours",
    "replies": "what the front end reads, recorded once",
    "test_layers.py": "reads source",
    "test_packaging.py": "reads archives",
    "test_mutants.py": "reads source",
    "test_suites.py": "runs make",
    "findings/test_planted.py": "each kind has its program on both",
    "findings/test_well_made.py": "each kind has its twins on both",
    "core/targets/test_compile_environments.py": "variables, files and processes of workers, which are ours",
    "core/targets/test_stored_under_one_key.py": "the keys of the inspection cache, which are ours",
    "worker/test_full_disk.py": "limits of the system; that dumps are whole is in worker/inside on both",
    "worker/test_worker_deaths.py": "processes and signals, free of JAX",
    "worker/test_worker_kernels.py": "processes and the lock file of libtpu, free of JAX",
    "worker/test_pool.py": "processes and locks, free of JAX",
    "worker/test_folder.py": "folders of workers, free of JAX",
    "core/targets/test_cross_compile_cache.py": "who is asked again, which our inspection cache decides",
    "notebook/test_advised_commands.py": "sentences; what the commands do is in test_magics.py and profiling/ on both",
    "notebook/test_option_sets.py": "labels of what is given twice; that options reach XLA is in core/options on both",
    "notebook/test_findings_magic.py": "ranks and rows of findings; each kind has its program on both",
    "notebook/test_light_load.py": "which of our modules are imported",
    "processes/test_cause_search.py": "made programs, free of JAX; real ones are in test_divergences.py on both",
    "processes/test_job_compiles.py": "logs made by hand; those of a real job are in test_shown.py on both",
    "processes/test_meeting.py": "threads over a made store, free of JAX; real jobs are in test_divergences.py on both",
    "processes/test_value_flow.py": "reads source, free of JAX",
    "program/test_wording_is_free.py": "sentences, all replaced",
    "core/options/test_file_options.py": "paths, which are ours; that options reach XLA is in test_build_options.py",
    "core/targets/test_target.py": "names of targets; that both versions compile for them is in test_targets_truth.py",
    "panel/test_given_away.py": "what is left out of saved forms, which are ours; that they are saved is on both",
    "findings/test_looking_leaves_no_trace.py": "hostile/test_looks_disturb_nothing.py is on both",
    "notebook/test_compiles_magic.py": "options and texts of a magic; what is logged is in compilation/ on both",
    "notebook/test_profile_magic.py": "options and texts of a magic; what is recorded is in profiling/ on both",
    "notebook/test_platform_note.py": "a note on packages that are installed",
    "panel/test_front_end_kernel.py": "messages of a page; a cell's panel in a kernel is in notebook/ on both",
    "processes/engines": "ipyparallel's engines; what they stage is in processes/ on both",
    "core/layout/test_meshes.py": "words for meshes; that a mesh compiles on both is in test_targets_truth.py",
    "compilation/test_listener_start.py": "kernels that import JAX before or after us; what is heard is on both",
    "truth/test_unknowns_decide.py": "made programs and golden files of both versions, in a room that is free of JAX",
}
"""Folders and files of tests/, with the reason."""
ON_BOTH = {
    "hostile/test_looks_disturb_nothing.py": "the caches and settings of JAX",
    "hostile/test_interrupts.py": "what an interrupt leaves in JAX",
    "hostile/test_stale_traces.py": "JAX's own caches of traces",
    "hostile/test_survival.py": "golden programs as this version compiles them",
    "notebooks/test_01_first_look.py": "that a notebook runs at all",
    "ir/test_golden.py": "reads what this version makes",
}
"""Exceptions to `ONCE`."""


_HERE: dict[str, tuple[str, ...]] = {
    "truth/": ("local",),
    "findings/": ("local", "cpu"),
    "program/": ("local", "cpu"),
    "core/targets/test_targets_truth.py": ("v5e",),  # one compiler that is not here; GPUs try each program 25 times
}
"""How the targets begin that the suite of the oldest versions has, by the folders of tests that are about figures."""
_ON_ALL = ("program/test_machine_code.py", "program/test_program_passes.py")
"""Exceptions: what compilers dump, whose form is that of their version."""


_FIRST_CASE = ("notebook/", "profiling/", "panel/")
"""Rooms above JAX: that the oldest version's artefacts are read shows in a first case; figures are the newest's."""
_FIRST_TEST = (
    "truth/",
    "findings/",
    "program/",
    "testing/",
    "core/test_scanned_bodies.py",
    "core/test_piecewise.py",
    "core/test_repeated_bodies.py",
)
"""Rooms above these, and long files: in the first test of a file, which is what it is about; others are our corners."""
_EACH_CASE = (
    "program/test_machine_code.py",
    "program/test_program_passes.py",
    "profiling/capture/",
    "profiling/mosaic/",
)
"""Exceptions: what compilers dump and profilers record, whose form is that of their version."""


def further_cases(items: Iterable[pytest.Item]) -> set[pytest.Item]:
    """In the oldest suite: cases after the first of their test in `_FIRST_CASE`, of their file in `_FIRST_TEST`."""
    if not IS_OLDEST_SUITE:
        return set()
    seen: set[str] = set()
    further = set()
    for item in items:
        test = name_of(item).partition("[")[0]
        counted_by = test.partition("::")[0] if test.startswith(_FIRST_TEST) else test
        if counted_by in seen and test.startswith((*_FIRST_CASE, *_FIRST_TEST)) and not test.startswith(_EACH_CASE):
            further.add(item)
        seen.add(counted_by)
    return further


def is_left_out(path: Path) -> bool:
    """Whether the suite of the oldest versions has no test of a file or folder."""
    if not IS_OLDEST_SUITE or not path.is_relative_to(TESTS) or path == TESTS:
        return False
    name = path.relative_to(TESTS)
    if path.is_dir():
        return str(name) in ONCE and not any(Path(one).is_relative_to(name) for one in ON_BOTH)
    places = {str(name), *map(str, name.parents)}
    return not places.isdisjoint(ONCE) and str(name) not in ON_BOTH and name.name != "conftest.py"


def deselected(items: Iterable[pytest.Item]) -> set[pytest.Item]:
    """The tests that wait for `make test-all`: of all that are collected those that a push does without."""
    if not SUITE:
        return set()
    run = [item for item in items if not is_deselected(item)]
    return {*items} - {*run} | one_absent_target.left_out(run, TESTS) | further_cases(run)


def is_deselected(item: pytest.Item) -> bool:
    """Whether a test waits by itself: `seldom` ones do, and in the oldest suite `once` and truth elsewhere."""
    is_same = IS_OLDEST_SUITE and item.get_closest_marker("once") is not None
    is_seldom = item.get_closest_marker("seldom") is not None or seldom_cases.is_seldom(name_of(item))
    return is_seldom or is_same or is_elsewhere(item)


def name_of(item: pytest.Item) -> str:
    """FILE::TEST[CASE], relative to tests/."""
    return os.path.relpath(item.path, TESTS) + "::" + item.nodeid.partition("::")[2]


def is_elsewhere(item: pytest.Item) -> bool:
    """Whether a test of `_HERE` is about a device that is not here: the newest compilers answer."""
    if not IS_OLDEST_SUITE:
        return False
    path = os.path.relpath(item.path, TESTS)
    rooms = [here for room, here in _HERE.items() if path.startswith(room) and path not in _ON_ALL]
    if not rooms:
        return False
    given: dict[str, Any] = getattr(getattr(item, "callspec", None), "params", {})
    target = getattr(given.get("expectation"), "target", given.get("target", "local"))
    return isinstance(target, str) and not target.startswith(rooms[0])
