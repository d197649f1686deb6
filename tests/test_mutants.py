"""The deliberate faults of `mutants/` fit the tree; `python -m tests.mutants` runs their tests."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.mutants.mutant import ROOT, Mutant, StaleMutant, mutants

MUTANTS = mutants()
FRONT_END = ROOT / "labextension"


def test_each_replaces_what_stands_once_in_its_file() -> None:
    for mutant in MUTANTS:
        mutant.of((ROOT / mutant.file).read_text())


def test_each_names_the_tests_that_it_must_turn_red() -> None:
    for mutant in MUTANTS:
        folder = FRONT_END if mutant.is_front_end else ROOT
        files = [folder / test.partition("::")[0] for test in mutant.tests]
        assert files and all(file.is_file() for file in files), (mutant.name, mutant.tests)


def test_every_room_and_the_front_end_have_some() -> None:
    rooms = Counter("/".join(mutant.file.split("/")[:2]) for mutant in MUTANTS if mutant.file.count("/") > 1)
    folders = [path for path in (ROOT / "jaxstage_ext").iterdir() if path.is_dir() and any(path.rglob("*.py"))]
    assert {f"jaxstage_ext/{folder.name}" for folder in folders} <= rooms.keys()
    assert min(rooms.values()) >= 3 and rooms["labextension/src"] >= 5
    assert len(MUTANTS) >= 40 and len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)


@pytest.mark.parametrize("old", ["b = 3", "a"])
def test_one_whose_text_is_gone_or_stands_twice_is_stale(old: str) -> None:
    made = Mutant("a fault", MUTANTS[0].kind, "jaxstage_ext/a.py", old, "b = 2", ())
    with pytest.raises(StaleMutant, match="a fault: its old text stands"):
        made.of("a = 1\na = 2\n")
