"""The folder that test runs share holds what compilers gave, and nothing of a machine or of an earlier run."""

from __future__ import annotations

from pathlib import Path

import compiled_once
import pytest

from jaxstage_ext.core.targets import machine_ceilings
from jaxstage_ext.store import cache


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(compiled_once, "folder", lambda: tmp_path)
    monkeypatch.setattr(machine_ceilings._Ceilings, "measured", None)
    return tmp_path


def test_a_later_run_finds_what_compilers_gave(shared: Path) -> None:
    with compiled_once.kept():
        cache.store(cache.key("a compiler's answer"), {"seconds": 1.5}, b"text")
    cache.clear()
    with compiled_once.kept():
        assert cache.get(cache.key("a compiler's answer")) is not None


def test_what_this_machine_was_measured_at_is_not_found_by_a_later_run(shared: Path) -> None:
    with compiled_once.kept():
        machine_ceilings.keep(machine_ceilings.by_hand({"float32": 1e12, "memory": 1e10}))
        assert machine_ceilings.measured_before() is not None
    cache.clear()
    machine_ceilings._Ceilings.measured = None
    with compiled_once.kept():
        assert machine_ceilings.measured_before() is None
