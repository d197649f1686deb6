"""Looking changes nothing: after every magic and public function, all is as it was, and what was compiled stays so."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import looks
import pytest
from absent import needs

TARGETS = {"%compile -t v5e:2x2": "tpu", "%compile -t h100": "cuda"}
HELPERS = Path(looks.__file__).parent


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """What each look has changed, in a process of its own that has imported JAX alone before."""
    folder = tmp_path_factory.mktemp("looks")
    paths = os.pathsep.join((str(HELPERS.parent.parent), str(HELPERS), os.environ.get("PYTHONPATH", "")))
    environment = os.environ | {"PYTHONPATH": paths, "JAX_NUM_CPU_DEVICES": "4"}
    subprocess.run([sys.executable, str(HELPERS / "looks.py"), str(folder)], env=environment, check=True, timeout=280)
    read: dict[str, list[str]] = json.loads((folder / "found.json").read_text(encoding="utf-8"))
    return read


@pytest.mark.parametrize("look", looks.LOOKS)
def test_nothing_is_disturbed_by(look: str, found: dict[str, list[str]]) -> None:
    if look in TARGETS:
        needs(TARGETS[look])
    assert found[look] == []
