"""One open notebook in the browser, and what a person does with it."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from pathlib import Path

import nbformat
from playwright.sync_api import ConsoleMessage, Locator, Page

from tests.browser.servers import Server

SCREENSHOTS = Path(__file__).parent / "screenshots"
PATIENCE = 60_000
NOT_OURS = (
    "Cannot read properties of undefined (reading 'schema')",  # Notebook 7's own
    "Failed to load resource",
    "WebSocket",
)
KERNEL_IDLE = """() => {
    const kernel = window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel;
    return kernel?.status === 'idle' && kernel?.connectionStatus === 'connected';
}"""


def written(folder: Path, cells: Sequence[str]) -> str:
    """The name of a new notebook of these code cells."""
    name = f"{uuid.uuid4().hex[:8]}.ipynb"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, folder / name)
    return name


class NotebookPage:
    """A notebook as a person sees it. `errors` holds what went wrong in the page and is ours."""

    def __init__(self, page: Page, server: Server, name: str) -> None:
        self.page, self.server, self.name = page, server, name
        self.errors: list[str] = []
        page.set_default_timeout(PATIENCE)
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self._note(str(error)))
        page.on("request", self._asked)

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self._note(message.text)

    def _note(self, text: str) -> None:
        if not any(known in text for known in NOT_OURS):
            self.errors.append(text)

    def _asked(self, request: object) -> None:
        url = str(getattr(request, "url", ""))
        if url.startswith("http") and not url.startswith(self.server.url):
            self.errors.append(f"asked the network for {url}")

    @property
    def path(self) -> Path:
        return self.server.folder / self.name

    def open(self) -> None:
        """Open, or open again, and wait for a kernel that listens."""
        self.page.goto(self.server.page(self.name, uuid.uuid4().hex[:8]))
        self.page.wait_for_function("() => !!window.jupyterapp")
        self.page.evaluate("() => window.jupyterapp.restored.then(() => true)")
        self.page.wait_for_selector(".jp-Notebook .jp-Cell")
        self.page.wait_for_function(KERNEL_IDLE)

    def command(self, name: str, *, wait: bool = True) -> None:
        """One of Jupyter's own commands, such as notebook:run-all-cells."""
        self.page.evaluate(
            "([name, wait]) => { const done = window.jupyterapp.commands.execute(name); return wait ? done : null; }",
            [name, wait],
        )

    def run_all(self) -> None:
        self.command("notebook:run-all-cells")

    def save(self) -> None:
        self.command("docmanager:save")

    def dark(self) -> None:
        self.page.evaluate(
            "() => window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})"
        )
        self.page.wait_for_selector('body[data-jp-theme-light="false"]')

    def panels(self) -> Locator:
        return self.page.locator(".jp-OutputArea-output .jxs-panel")

    def panel(self, index: int = 0) -> PanelOnPage:
        panel = self.panels().nth(index)
        panel.wait_for()
        return PanelOnPage(panel)

    def screenshot(self, name: str) -> Path:
        SCREENSHOTS.mkdir(exist_ok=True)
        path = SCREENSHOTS / f"{name}.png"
        self.page.screenshot(path=path)
        return path


class PanelOnPage:
    """One panel, and the rows that are lit in its panes."""

    def __init__(self, root: Locator) -> None:
        self.root = root

    def pane(self, doc: str) -> Locator:
        return self.root.locator(f'[data-doc="{doc}"]')

    def row(self, doc: str, text: str) -> Locator:
        """The first shown row of a pane that holds the text."""
        return self.pane(doc).locator("[data-row]", has_text=text).first

    def lit(self, doc: str, how: str = "strong") -> list[str]:
        """Texts of the rows that are lit: strong, weak, selected or inferred."""
        texts = self.pane(doc).locator(f"[data-row].jxs-{how}").all_inner_texts()
        return [text.strip() for text in texts]

    def wait_lit(self, doc: str, how: str = "strong") -> list[str]:
        self.pane(doc).locator(f"[data-row].jxs-{how}").first.wait_for()
        return self.lit(doc, how)
