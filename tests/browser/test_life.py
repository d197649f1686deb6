"""A panel's life: filling in, failing, interrupted, run again, reloaded, two of them, under a busy kernel."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.cells import HOSTILE, LOSS, SETUP, SHAPES_DO_NOT_FIT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.browser.conftest import Opener
    from tests.browser.servers import Server

ENDLESS = """
%%compile
def endless(x):
    time.sleep(10_000)
    return jnp.tanh(x)

endless(x)
"""
OPEN_WIDGETS = "import ipywidgets; print('open widgets:', len(ipywidgets.widgets.widget._instances))"


def test_the_panel_fills_in_stage_by_stage_and_an_interrupt_leaves_it_standing(
    open_notebook: Opener, lab: Server
) -> None:
    notebook = open_notebook(lab, [SETUP, ENDLESS])
    notebook.command("notebook:run-all-cells", wait=False)
    panel = notebook.panel()
    running = panel.stage("trace", "running")
    expect(running).to_contain_text(re.compile(r"running… \d+\.\d s"))
    expect(running).not_to_have_text(running.inner_text())
    expect(panel.stage("compile", "waiting")).to_have_count(1)
    notebook.command("notebook:interrupt-kernel")
    panel.stage("trace", "interrupted").wait_for()
    expect(panel.root.locator(".jxs-failure")).to_contain_text("interrupted", use_inner_text=True)
    assert not notebook.page.locator(".jp-OutputArea-output", has_text="Traceback").count()
    assert panel.wait_lit("python", "error") == ["time.sleep(10_000)"]


def test_a_failed_stage_shows_the_error_and_marks_the_line(open_notebook: Opener, lab: Server) -> None:
    notebook = open_notebook(lab, [SETUP, SHAPES_DO_NOT_FIT])
    notebook.run_all()
    panel = notebook.panel()
    panel.stage("trace", "failed").wait_for()
    failure = panel.root.locator(".jxs-failure").inner_text()
    assert "TypeError" in failure
    assert "contracting dimensions" in failure
    assert "jaxstage_ext" not in notebook.page.locator(".jp-Notebook").inner_text().split("%%compile")[1]
    panel.show_panes("python")
    assert panel.wait_lit("python", "error") == ["return h @ x"]


def test_running_a_cell_again_replaces_its_panel(open_notebook: Opener, lab: Server) -> None:
    notebook = open_notebook(lab, [SETUP, LOSS, OPEN_WIDGETS])
    counts = []
    for _ in range(3):
        notebook.run_all()
        notebook.panel().stage("compile", "done").wait_for()
        printed = notebook.page.locator(".jp-OutputArea-output", has_text="open widgets:").inner_text()
        counts.append(int(printed.split(":")[1]))
    expect(notebook.panels()).to_have_count(1)
    assert counts[0] == counts[1] == counts[2]


def test_after_a_reload_the_panel_is_there_and_alive(open_notebook: Opener, lab: Server) -> None:
    notebook = open_notebook(lab, [SETUP, LOSS])
    notebook.run_all()
    notebook.panel().stage("compile", "done").wait_for()
    notebook.save()
    notebook.open()
    panel = notebook.panel()
    panel.show_panes("python", "stablehlo")
    panel.reveal("stablehlo", "stablehlo.tanh").hover()
    panel.wait_lit("python", holding="jnp.tanh")


def test_two_panels_on_one_function_each_have_their_own_selection(open_notebook: Opener, lab: Server) -> None:
    notebook = open_notebook(lab, [SETUP, LOSS, "%compile loss(w, x)"], height=1800)
    notebook.run_all()
    first, second = notebook.panel(0), notebook.panel(1)
    for panel in (first, second):
        panel.show_panes("python", "hlo")
    first.reveal("hlo", " tanh(").locator(".jxs-num").click()
    first.wait_lit("python", holding="tanh")
    assert not second.lit("python")
    second.reveal("hlo", " exponential(").hover()
    second.wait_lit("python", holding="softmax")


def test_several_calls_give_one_panel_with_a_picker(open_notebook: Opener, lab: Server) -> None:
    notebook = open_notebook(lab, [SETUP, LOSS.replace("-o ins", "loss(w, x); jax.grad(loss)(w, x)")])
    notebook.run_all()
    expect(notebook.panels()).to_have_count(1)
    panel = notebook.panel()
    picker = panel.root.locator(".jxs-picker")
    expect(picker.locator("option")).to_have_count(2)
    picker.select_option(index=1)
    panel.tab("code").click()  # gradients outside of jax.jit have a finding, which opens
    panel.show_panes("python", "jaxpr")
    panel.pane("jaxpr").locator(".jxs-gradient").first.hover()
    assert "gradient of" in panel.detail().lower()


def test_the_panel_answers_while_the_kernel_is_busy(open_notebook: Opener, lab: Server, tmp_path: Path) -> None:
    answered = tmp_path / "answered"
    busy = f"import pathlib\nwhile not pathlib.Path({str(answered)!r}).exists():\n    time.sleep(0.1)\nprint('awake')"
    notebook = open_notebook(lab, [SETUP, LOSS, busy])
    notebook.command("notebook:run-all-cells", wait=False)
    panel = notebook.panel()
    panel.stage("compile", "done").wait_for()
    panel.show_panes("python", "stablehlo")
    panel.row("python", "softmax").hover()
    panel.wait_lit("stablehlo", holding="exponential")
    awake = notebook.page.locator(".jp-OutputArea-output", has_text="awake")
    assert not awake.count()
    answered.touch()
    awake.wait_for()


def test_what_a_worker_did_not_survive_is_told_with_its_log_on_demand(open_notebook: Opener, lab: Server) -> None:
    notebook = open_notebook(lab, [SETUP, LOSS.replace("-o ins", "-t cpu:2 --timeout 0.001")])
    notebook.run_all()
    panel = notebook.panel()
    panel.stage("compile", "failed").wait_for()
    failure = panel.root.locator(".jxs-failure")
    expect(failure).to_contain_text("took longer than 0.001 s", use_inner_text=True)
    assert not failure.locator(".jxs-log pre").count()
    failure.get_by_role("button", name="Worker's log").click()
    failure.locator(".jxs-log pre", has_text="cpu: ").wait_for()


def test_after_a_kernel_restart_what_is_there_works_and_the_rest_says_why_not(
    open_notebook: Opener, plain_lab: Server
) -> None:
    """Without the extension, which shows the saved report then."""
    notebook = open_notebook(plain_lab, [SETUP, LOSS])
    notebook.run_all()
    panel = notebook.panel()
    panel.show_panes("python", "hlo")
    notebook.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
    notebook.wait_idle()
    panel.row("python", "softmax").hover()
    assert panel.wait_lit("hlo")
    panel.tab("options").click()  # all documents may have been shown while the stages ran
    panel.root.get_by_role("alert").wait_for()
    expect(panel.root.get_by_role("alert")).to_contain_text("kernel", use_inner_text=True)


def test_names_that_look_like_markup_stay_text(open_notebook: Opener, lab: Server) -> None:
    notebook = open_notebook(lab, [SETUP, HOSTILE])
    notebook.run_all()
    panel = notebook.panel()
    expect(panel.root.locator(".jxs-signature")).to_contain_text(
        '<img src=x onerror="window.pwned=1">(x: f32[8,128])', use_inner_text=True
    )
    panel.show_panes("python", "jaxpr", "hlo")
    panel.reveal("hlo", " tanh(").hover()
    assert re.search("<script>", panel.detail())
    assert notebook.page.evaluate("() => window.pwned") is None


def test_dark_theme_and_a_narrow_cell(open_notebook: Opener, lab: Server) -> None:
    notebook = open_notebook(lab, [SETUP, LOSS], width=760)
    notebook.theme("Dark")
    notebook.run_all()
    panel = notebook.panel()
    panel.show_panes("python", "hlo")
    ground, text = (
        panel.root.locator(".jxs-code").first.evaluate(COLOUR, what) for what in ("backgroundColor", "color")
    )
    assert max(ground) < 90 < 150 < max(text)
    assert panel.root.evaluate("root => root.scrollWidth <= root.clientWidth + 1")
    panel.reveal("hlo", " tanh(").hover()
    assert panel.wait_lit("python")
    notebook.screenshot("dark_and_narrow")
    notebook.theme("Light")


COLOUR = """(node, what) => {
    let colour = getComputedStyle(node)[what];
    while (colour === 'rgba(0, 0, 0, 0)') { node = node.parentElement; colour = getComputedStyle(node)[what]; }
    const canvas = document.createElement('canvas').getContext('2d');
    canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data.slice(0, 3)];
}"""


def test_the_notebooks_own_shortcuts_work_after_a_click_in_the_panel(open_notebook: Opener, lab: Server) -> None:
    notebook = open_notebook(lab, [SETUP, LOSS])
    notebook.run_all()
    panel = notebook.panel()
    panel.stage("compile", "done").wait_for()
    cells = notebook.page.locator(".jp-Notebook .jp-Cell:visible").count()
    panel.row("python", "return").click()
    for plain in ("d", "d", "x", "a", "b"):
        notebook.page.keyboard.press(plain)
    expect(notebook.page.locator(".jp-Notebook .jp-Cell:visible")).to_have_count(cells)
    before = notebook.path.stat().st_mtime_ns
    with notebook.page.expect_response(lambda answer: answer.request.method == "PUT" and "/api/contents" in answer.url):
        notebook.page.keyboard.press("Control+s")
    assert notebook.path.stat().st_mtime_ns > before
    notebook.page.keyboard.press("Control+Shift+c")
    expect(notebook.page.locator(".lm-CommandPalette-input")).to_be_focused()
    notebook.page.keyboard.press("Escape")
    panel.row("python", "return").click()
    run = notebook.page.locator(".jp-Notebook .jp-InputPrompt").last
    number = run.inner_text()
    notebook.page.keyboard.press("Control+Enter")
    expect(run).not_to_have_text(number)
    notebook.wait_idle()
