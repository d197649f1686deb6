"""The panel of `%%compile --processes` with two real engines: entries, Compare, a tab that a process answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.legible import assert_legible

if TYPE_CHECKING:
    from tests.browser.conftest import Opener
    from tests.browser.servers import Server

pytest.importorskip("ipyparallel", reason="ipyparallel is not installed here")
CELLS = [
    "%load_ext jaxstage_ext\n%processes start 2",
    """%%px
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import NamedSharding, PartitionSpec as P
mesh = jax.make_mesh((2,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
x = jax.make_array_from_callback((8, 4), NamedSharding(mesh, P("x")), lambda at: np.ones((8, 4), np.float32)[at])""",
    """%%compile --processes
@jax.jit
def step(x):
    return (jnp.tanh(x) * (jax.process_index() + 1)).sum()
step(x)""",
    "%processes stop",
]


@pytest.mark.seldom("what is shown is in tests/notebook/several; here that a page shows it, with engines")
def test_groups_are_entries_that_compare_and_tabs_are_answered_there(module_notebook: Opener, lab: Server) -> None:
    notebook = module_notebook(lab, CELLS, width=1400)
    for _ in CELLS[:-1]:
        notebook.command("notebook:run-cell-and-select-next")
    panel = notebook.panel()
    panel.root.wait_for()
    picker = panel.root.locator(".jxs-picker")
    assert [text.strip() for text in picker.locator("option").all_inner_texts()] == [
        "step · process 0",
        "step · process 1",
    ]
    assert "index of the process" in panel.root.locator(".jxs-head-notes > .jxs-caution").first.inner_text()
    notebook.screenshot("processes-differ")
    panel.tab("shardings").click()
    panel.root.locator(".jxs-map-cell").first.wait_for()
    notebook.screenshot("processes-differ-shardings")
    panel.tab("compare").click()
    panel.root.get_by_role("button", name="Show", exact=True).click()
    panel.root.locator(".jxs-toggle", has_text="StableHLO").click()
    panel.root.locator('.jxs-differing-line[data-what="added"]', has_text="dense<2.0").wait_for()
    notebook.screenshot("processes-differ-compare")
    panel.tab("memory").click()
    panel.root.locator("canvas").first.wait_for()
    notebook.screenshot("processes-differ-memory")
    assert_legible(panel.root)
    notebook.command("notebook:run-cell-and-select-next")
