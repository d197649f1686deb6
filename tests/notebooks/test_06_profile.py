"""The sixth notebook: which line takes the time, whether the device idles and why, how long a step takes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from executed_notebooks import run, shown

if TYPE_CHECKING:
    import nbformat


@pytest.fixture(scope="module")
def profiled() -> nbformat.NotebookNode:
    return run("06_profile_a_step.ipynb")


@pytest.mark.timeout(600)
def test_the_products_of_the_model_take_the_time(profiled: nbformat.NotebookNode) -> None:
    first = shown(profiled, "ins.timeline.by_line()").splitlines()[1]
    cell = next(cell for cell in profiled.cells if "def attention" in cell.source)
    line = int(re.match(r"In \[\d+\]:(\d+)", first)[1])  # type: ignore[index]
    assert "@" in cell.source.splitlines()[line - 1]


@pytest.mark.timeout(600)
def test_the_slow_loop_waits_for_its_input_and_the_other_does_not(profiled: nbformat.NotebookNode) -> None:
    assert "time.sleep(0.05)" in shown(profiled, "slow.timeline.gaps()")
    said = " ".join(re.findall(r"[^\s│]+", shown(profiled, "%%profile -o slow")))
    assert re.search(r"the device idles \d+%, mostly while the host runs time\.sleep\(0\.05\)", said)
    _, _, quickly = re.split("^(?:slow|fast)$", shown(profiled, "for name, profile"), flags=re.MULTILINE)
    assert "time.sleep(0.05)" not in quickly  # which sleeps in eight other threads


@pytest.mark.timeout(600)
def test_a_step_has_a_median_with_an_uncertainty(profiled: nbformat.NotebookNode) -> None:
    assert re.search(r"step: wall median [\d.]+ (ms|µs|s) ± ", shown(profiled, "timing"))


@pytest.mark.timeout(600)
def test_the_exported_profile_has_the_same_busy_time(profiled: nbformat.NotebookNode) -> None:
    rows = [line for line in shown(profiled, "for name, profile").splitlines() if line.startswith("CPU")]
    assert rows[0] in shown(profiled, "to_chrome(file)")
