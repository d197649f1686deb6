"""An attack that hangs fails, and one that does not is counted."""

from __future__ import annotations

import time

import pytest
from attack import Attack


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
