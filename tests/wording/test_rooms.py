"""With every sentence replaced, each room decides the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from rooms import ROOMS
from wordings import reword, silence, wording_modules


@pytest.mark.parametrize("room", ROOMS)
def test_nothing_is_decided_by_words(room: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_words = ROOMS[room](tmp_path)
    assert with_words
    silence(monkeypatch.setattr)
    assert ROOMS[room](tmp_path) == with_words


@pytest.mark.parametrize("module", wording_modules().values())
def test_every_module_takes_other_words(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert reword(module, monkeypatch.setattr) > 0
