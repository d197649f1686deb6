"""An attack that hangs fails, and one that does not is counted."""

from __future__ import annotations

import time

import pytest
from attack import Attack


@pytest.fixture(autouse=True)
def all_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attack.FULL", False)
    monkeypatch.setattr("attack.SHARE", 1)


@pytest.mark.parametrize(("full", "share", "made"), [(True, 2, 9), (False, 1, 4), (False, 2, 2)])
def test_in_ci_a_part_is_made_and_by_the_oldest_jax_half_of_that(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, full: bool, share: int, made: int
) -> None:
    monkeypatch.setattr("attack.FULL", full)
    monkeypatch.setattr("attack.SHARE", share)
    assert len(list(Attack("numbers", attempts=9, in_ci=4, request=request))) == made


def test_attempts_are_seeded_and_counted(request: pytest.FixtureRequest) -> None:
    drawn = [[rng.random() for rng in Attack("numbers", 3, 3, request)] for _ in range(2)]
    assert drawn[0] == drawn[1] and len(set(drawn[0])) == 3


def _spin(attack: Attack) -> None:
    for number, _ in enumerate(attack):
        until = time.thread_time() + 0.1 * number
        while time.thread_time() < until:
            pass


def test_a_hang_fails(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attack.LONGEST", 0.05)
    with pytest.raises(AssertionError, match="attempt 1 took"):
        _spin(Attack("spinning", 2, 2, request))
