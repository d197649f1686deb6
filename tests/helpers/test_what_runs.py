"""What a push leaves out exists, and what it keeps says the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import one_absent_target
import pytest
import seldom_cases
import what_runs

TESTS = Path(__file__).parents[1]


class Case:
    """A collected test, as far as it is looked at."""

    def __init__(self, path: Path, name: str, given: dict[str, Any]) -> None:
        self.path, self.name, self.params = path, name, given

    @property
    def callspec(self) -> Case:
        return self

    @property
    def nodeid(self) -> str:
        return f"{self.path}::{self.name}"


def case(file: str, name: str, **given: Any) -> Any:
    return Case(TESTS / file, name, given)


@pytest.mark.parametrize("key", seldom_cases.SELDOM)
def test_a_case_that_waits_is_one_of_a_test_that_is_there(key: str) -> None:
    file, _, test = key.partition("::")
    name = test.partition("[")[0].strip("*")
    text = (TESTS / file).read_text("utf-8")
    assert f"def {name}" in text if name else "def test_" in text


@pytest.mark.parametrize("place", [*what_runs.ONCE, *what_runs.ON_BOTH])
def test_what_runs_on_one_version_is_there(place: str) -> None:
    assert (TESTS / place).exists()


def test_a_key_is_a_file_a_test_or_some_of_its_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = {"a/b.py": "", "c.py::test_d": "", "c.py::test_e[*Dark*]": ""}
    monkeypatch.setattr(seldom_cases, "SELDOM", keys)
    seldom_cases.patterns.cache_clear()
    names = (
        "a/b.py::test_x a/b.pyc::test_x c.py::test_d c.py::test_d[1] c.py::test_dd c.py::test_e[1-Dark] c.py::test_e[1]"
    )
    waiting = [name for name in names.split() if seldom_cases.is_seldom(name)]
    seldom_cases.patterns.cache_clear()
    assert waiting == ["a/b.py::test_x", "c.py::test_d", "c.py::test_d[1]", "c.py::test_e[1-Dark]"]


def test_each_program_meets_one_target_that_is_not_here_and_each_target_has_programs() -> None:
    targets, programs = ("local", "v5e:2x2", "h100:4"), [f"program{n}" for n in range(20)]
    cases = {
        (name, program, target): case("truth/test_x.py", f"{name}[{program}-{target}]", target=target)
        for name in ("test_a", "test_b")
        for program in programs
        for target in targets
    }
    waiting = {id(one) for one in one_absent_target.left_out(cases.values(), TESTS)}
    kept = {key for key, one in cases.items() if id(one) not in waiting}
    for program in programs:
        of_each = [
            {target for name, one, target in kept if (name, one) == (test, program)} for test in ("test_a", "test_b")
        ]
        assert of_each[0] == of_each[1] and len(of_each[0]) == 2 and "local" in of_each[0]
    assert {target for _, _, target in kept} == {*targets}


def test_on_the_oldest_version_a_test_of_the_rooms_above_jax_has_one_case(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(what_runs, "IS_OLDEST_SUITE", True)
    files = ("notebook/test_x.py", "core/test_y.py", "profiling/capture/test_z.py")
    cases = [case(file, f"test_a[{number}]") for file in files for number in range(3)]
    waiting = what_runs.further_cases(cases)
    assert [one for one in cases if one in waiting] == cases[1:3]


def test_further_up_the_oldest_suite_has_the_first_test_of_each_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(what_runs, "IS_OLDEST_SUITE", True)
    files = ("findings/memory/test_x.py", "program/test_y.py", "core/test_z.py")
    cases = [case(file, name) for file in files for name in ("test_a[1]", "test_a[2]", "test_b")]
    waiting = what_runs.further_cases(cases)
    assert [one for one in cases if one not in waiting] == [cases[0], cases[3], *cases[6:]]


def test_what_only_one_target_is_asked_is_asked() -> None:
    cases = [
        case("truth/test_x.py", f"test_a[p-{target}-{asked}]", target=target)
        for target, asked in (("v5e:2x2", "time"), ("h100:4", "time"), ("v5e:2x2", "unit"), ("h100:4", "peak"))
    ]
    waiting = one_absent_target.left_out(cases, TESTS)
    assert len(waiting) == 1 and next(iter(waiting)).name.endswith("time]")


def test_elsewhere_all_targets_are_asked() -> None:
    cases = [case("core/test_x.py", f"test_a[p-{target}]", target=target) for target in ("v5e:2x2", "h100:4")]
    assert not one_absent_target.left_out(cases, TESTS)
