"""Inspecting cells and calls without typing a magic, and what a typed magic does to its cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.servers import running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Locator

    from tests.browser.conftest import Opener
    from tests.browser.notebook_page import NotebookPage
    from tests.browser.servers import Server

LOSS = """
import jax, os
os.environ["JAX_PLATFORMS"] = "cpu"
import jax.numpy as jnp
def loss(w, x, *, scale_factor=1):
    return jnp.sum(jnp.tanh(x @ w)) * scale_factor
w, x = jnp.ones((128, 512)), jnp.ones((8, 128))
y = jax.grad(loss)(
    w,  # weights
    x,
)
loss(w, x)
"""
NOT_INSTALLED = """
import sys
class Missing:
    def find_spec(self, name, *_):
        if name.startswith("jaxstage_ext"):
            raise ModuleNotFoundError(f"No module named {name!r}")
sys.meta_path.insert(0, Missing())
for name in [name for name in sys.modules if name.startswith("jaxstage_ext")]:
    del sys.modules[name]
"""
OTHER = "loss(w, 2 * x)"
TYPED = "%%compile -t cpu:4\nloss(w, x)\nlo"


def opened(open_notebook: Opener, server: Server, *cells: str, own_page: bool = False) -> NotebookPage:
    notebook = open_notebook(server, list(cells), own_page=own_page)
    notebook.page.wait_for_function("() => window.jupyterapp.commands.hasCommand('jaxstage:compile')", polling=100)
    return notebook


def cell(notebook: NotebookPage, index: int) -> Locator:
    return notebook.page.locator(".jp-Notebook .jp-Cell").nth(index)


def pick(notebook: NotebookPage, index: int) -> Locator:
    cell(notebook, index).locator(".jp-InputPrompt").click()
    return cell(notebook, index)


def button(notebook: NotebookPage, index: int, command: str = "inspect") -> None:
    pick(notebook, index).locator(f'.jp-cell-toolbar [data-command="jaxstage:{command}"]').click()


def panel_of(notebook: NotebookPage, index: int, stage: str = "compile") -> Locator:
    panel = cell(notebook, index).locator(".jp-OutputArea-output .jaxstage")
    panel.locator(f'[data-stage="{stage}"][data-state="done"]').wait_for()
    return panel


def wait_prompt(notebook: NotebookPage, index: int, text: str) -> None:
    cell(notebook, index).locator(f'.jp-InputPrompt:has-text("{text}")').wait_for()


def wait_said(notebook: NotebookPage, *words: str) -> None:
    for word in words:
        notebook.page.locator(".Toastify__toast", has_text=word).first.wait_for()


@pytest.fixture(params=["lab", "notebook7"])
def host(request: pytest.FixtureRequest) -> Server:
    server: Server = request.getfixturevalue(request.param)
    return server


def test_the_button_compiles_the_cell_as_it_stands(open_notebook: Opener, host: Server) -> None:
    notebook = opened(open_notebook, host, LOSS, OTHER, TYPED, "1 / 0")
    button(notebook, 0)
    panel_of(notebook, 0)
    wait_prompt(notebook, 0, "[1]:")
    expect(cell(notebook, 0).locator(".cm-line").first).to_have_text("import jax, os", use_inner_text=True)

    button(notebook, 0, "choose")  # another target, and options
    dialog = notebook.page.locator(".jaxstage-choice")
    dialog.locator('option[value="v5e:2x2"]').wait_for(state="attached")
    dialog.locator("input").nth(0).fill("cpu:8")
    dialog.locator("input").nth(1).fill("--mesh data=8")
    notebook.page.locator(".jp-Dialog .jp-mod-accept").click()
    wait_prompt(notebook, 0, "[2]:")
    panel_of(notebook, 0).get_by_text("cpu:8").first.wait_for()

    button(notebook, 1)  # the next cell is compiled for the last target
    panel_of(notebook, 1).get_by_text("cpu:8").first.wait_for()

    pick(notebook, 2)
    notebook.command("notebook:run-cell")  # lo is not defined: the magic is remembered all the same
    button(notebook, 1)
    panel_of(notebook, 1).get_by_text("cpu:4").first.wait_for()

    button(notebook, 3)
    cell(notebook, 3).locator(".jp-OutputArea-output", has_text="ZeroDivisionError").wait_for()
    wait_prompt(notebook, 3, "[6]:")


def test_what_cannot_be_inspected_is_said_in_a_line(open_notebook: Opener, host: Server) -> None:
    notebook = opened(open_notebook, host, "%%bash\nls", "", NOT_INSTALLED, OTHER, own_page=True)
    pick(notebook, 0)
    notebook.command("jaxstage:compile")
    wait_said(notebook, "%%bash")
    pick(notebook, 1)
    notebook.command("jaxstage:trace")
    wait_said(notebook, "The cell is empty")
    notebook.command("notebook:change-cell-to-markdown")
    notebook.command("jaxstage:trace")
    wait_said(notebook, "Select a code cell")
    assert not cell(notebook, 1).locator('[data-command="jaxstage:inspect"]:visible').count()
    pick(notebook, 2)
    notebook.command("notebook:run-cell")
    button(notebook, 3)
    wait_said(notebook, "JAXStage is not installed")
    wait_prompt(notebook, 3, "[ ]:")


def test_keys_and_a_cell_with_its_own_magic(open_notebook: Opener, lab: Server) -> None:
    notebook = opened(open_notebook, lab, "%%trace\nimport jax.numpy as jnp\njnp.tanh(jnp.ones(3))", own_page=True)
    cell(notebook, 0).locator(".cm-line").last.click()
    notebook.page.keyboard.press("Control+Shift+Enter")
    panel_of(notebook, 0, "trace")
    wait_said(notebook, "begins with %%trace")
    notebook.page.keyboard.press("Alt+j")
    notebook.page.keyboard.press("t")
    wait_prompt(notebook, 0, "[2]:")


def test_a_call_opens_beside_the_notebook(open_notebook: Opener, host: Server) -> None:
    notebook = opened(open_notebook, host, LOSS)
    notebook.run_all()
    cell(notebook, 0).locator(".cm-line", has_text="# weights").click(button="right")
    notebook.page.locator('.lm-Menu-item:has-text("JAXStage")').hover()
    notebook.page.locator('.lm-Menu-item:has-text("Compile This Call")').click()
    panel = notebook.page.locator(".jp-MainAreaWidget .jp-LinkedOutputView .jaxstage")
    panel.locator('[data-stage="compile"][data-state="done"]').wait_for()
    panel.get_by_text("jax.grad(loss)").first.wait_for()
    panel.locator('[data-view="memory"]').wait_for()  # live, not the saved report
    assert cell(notebook, 0).locator(".jp-InputPrompt").inner_text().strip() == "[1]:"
    assert not notebook.panels().locator("visible=true").count() - panel.count()


def test_a_magic_in_its_cell(open_notebook: Opener, host: Server) -> None:
    notebook = opened(open_notebook, host, LOSS, "%%compile -o ins\nloss(w, x)\nlos")
    button(notebook, 0)
    panel_of(notebook, 0)
    colours = (
        cell(notebook, 1)
        .locator(".cm-line")
        .first.evaluate(
            "line => new Set([line, ...line.querySelectorAll('span')].map(part => getComputedStyle(part).color)).size"
        )
    )
    assert colours == 1
    for line, typed, expected in (
        (0, " --tar", "--target"),
        (0, " v5", "v5e:2x2"),
        (2, "s(w, x, scal", "scale_factor="),
    ):
        cell(notebook, 1).locator(".cm-line").nth(line).click()
        notebook.page.keyboard.press("End")
        notebook.page.keyboard.type(typed)
        notebook.page.keyboard.press("Tab")
        text = cell(notebook, 1).locator(".cm-line").nth(line)
        text.filter(has_text=expected).or_(
            notebook.page.locator(".jp-Completer-item", has_text=expected)
        ).first.wait_for()
        if notebook.page.locator(".jp-Completer-item:visible").count():
            notebook.page.locator(".jp-Completer-item", has_text=expected).click()
    cell(notebook, 1).locator(".cm-line").nth(1).click(position={"x": 8, "y": 6})
    notebook.page.keyboard.press("Shift+Tab")
    notebook.page.locator(".jp-Tooltip", has_text="scale_factor").wait_for()


VARIABLE = "(element, name) => getComputedStyle(element).getPropertyValue(name).trim()"


@pytest.fixture(scope="module")
def lab_with_settings(tmp_path_factory: pytest.TempPathFactory, mother: Path) -> Iterator[Server]:
    """A JupyterLab of one test: a server keeps its settings, and every later page opens with them."""
    with running("lab", tmp_path_factory.mktemp("settings"), mother=mother) as server:
        yield server


def test_settings_take_effect_at_once(open_notebook: Opener, lab_with_settings: Server) -> None:
    notebook = opened(open_notebook, lab_with_settings, LOSS)
    notebook.page.evaluate("() => window.jupyterapp.commands.execute('settingeditor:open', {query: 'JAXStage'})")
    form = notebook.page.locator(".jp-SettingsForm")
    form.locator("select").first.select_option(label="trace")
    form.locator("select[multiple]").select_option(label="jaxpr")
    form.locator("select").last.select_option(label="bars")
    notebook.page.locator(".lm-TabBar-tab", has_text=notebook.name).click()
    pick(notebook, 0).locator('[data-command="jaxstage:inspect"][title^="Trace"]').click()
    panel_of(notebook, 0, "trace")
    panes = notebook.panel().root.locator("[data-doc]")
    notebook.panel().root.locator('[data-doc="jaxpr"]').wait_for()
    assert panes.count() <= 2
    row = notebook.panel().root.locator('[data-doc="jaxpr"] .jxs-coloured').first
    tint, edge = (row.evaluate(VARIABLE, name) for name in ("--jxs-tint", "--jxs-edge"))
    assert tint == "transparent" != edge
