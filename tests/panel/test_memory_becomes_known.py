"""The head of a panel shows the memory needed as soon as a request has computed it, where XLA gives no total before."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import pytest

import jaxstage_ext
from jaxstage_ext.panel import assets
from jaxstage_ext.panel.panel import Panel, _answer
from jaxstage_ext.program.device import device_fit


@pytest.fixture
def panel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Panel:
    """That of a program of which XLA's statistics have no total."""
    (tmp_path / "stub.js").write_text("export default {}")
    (tmp_path / "panel.css").write_text(".x {}")
    monkeypatch.setattr(assets, "STATIC", tmp_path)
    monkeypatch.setattr(device_fit, "memory_needed", lambda program: None)
    inspection = jaxstage_ext.inspect(lambda x: jnp.tanh(x @ x), jnp.ones((64, 64)))
    return Panel([inspection.program])


def needed(panel: Panel) -> dict[str, Any]:
    [fact] = [fact for fact in panel.state["calls"][0]["facts"] if fact["label"] == "memory needed"]
    return dict(fact)


def test_the_head_follows_the_memory_tab(panel: Panel) -> None:
    assert (needed(panel)["text"], needed(panel)["known"]) == ("unknown", False)
    assert "open Memory" in needed(panel)["reason"]
    pushed: list[object] = []
    panel.observe(pushed.append, "state")
    _answer(panel, {"kind": "request", "id": 1, "method": "source", "params": {}}, [])
    assert not pushed, "nothing has become known"
    for _ in range(2400):
        _answer(panel, {"kind": "request", "id": 2, "method": "memory", "params": {"call": 0}}, [])
        if pushed:
            break
        time.sleep(0.05)
    assert needed(panel)["text"] == "32.8 kB", "argument and result of 64 * 64 floats"
    assert len(pushed) == 1
    panel.close()
