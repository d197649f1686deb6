"""`%compile_cache` in a real notebook: the folder in use, what is wrong with it, and its entries."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.cells import SETUP

if TYPE_CHECKING:
    from tests.browser.conftest import Opener
    from tests.browser.servers import Server

USE = """
jax.config.update("jax_compilation_cache_dir", {folder!r})
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
step = jax.jit(lambda x: jnp.tanh(x) @ x.T)
_ = step(x)
jax.config.update("jax_compilation_cache_dir", {later!r})
"""


def test_the_folder_in_use_and_its_entries(open_notebook: Opener, lab: Server, tmp_path: Path) -> None:
    use = USE.format(folder=str(tmp_path / "cache"), later=str(tmp_path / "later"))
    notebook = open_notebook(lab, [SETUP, use, "%compile_cache"])
    notebook.run_all()
    panel = notebook.panel().root
    panel.locator(".jxs-cc-head").wait_for()
    expect(panel.locator(".jxs-cc-head .jxs-headline")).to_contain_text(str(tmp_path / "cache"), use_inner_text=True)
    expect(panel.locator(".jxs-cc-wrong").first).to_contain_text("later was set later", use_inner_text=True)
    rows = panel.locator("[data-row]")
    assert rows.count() == len(list((tmp_path / "cache").glob("*-cache")))


FLAGS = """
jax.clear_caches()
_ = jax.jit(step.__wrapped__, compiler_options={"xla_cpu_enable_fast_math": True})(x)
"""


def test_an_empty_panel_is_short_and_a_row_opens_its_entry(open_notebook: Opener, lab: Server, tmp_path: Path) -> None:
    use = USE.format(folder=str(tmp_path / "first" / "cache"), later=str(tmp_path / "second" / "cache"))
    notebook = open_notebook(lab, [SETUP, "%compile_cache", use, FLAGS, "%compile_cache"])
    notebook.run_all()
    empty, full = notebook.panel(0).root, notebook.panel(1).root
    expect(empty.locator(".jxs-cc-code pre")).to_contain_text("os.path.expanduser", use_inner_text=True)
    assert empty.bounding_box()["height"] < 280  # type: ignore[index]
    full.locator(".jxs-cc-misses").wait_for()
    expect(full.locator(".jxs-cc-misses")).to_contain_text(
        "1 because xla_cpu_enable_fast_math changed", use_inner_text=True
    )
    expect(full.locator(".jxs-cc-wrong").first).to_contain_text(str(tmp_path / "second" / "cache"), use_inner_text=True)
    full.locator("[data-row]").first.click()
    full.locator(".jxs-cc-entry dl").wait_for()
    expect(full.locator(".jxs-cc-entry")).to_contain_text("xla_cpu_enable_fast_math: was", use_inner_text=True)
    full.get_by_role("button", name="Refresh").click()
    notebook.theme("Dark")
    notebook.page.set_viewport_size({"width": 900, "height": 900})
    notebook.screenshot("cache_entry_dark_900")
