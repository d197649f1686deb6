"""One open notebook in the browser, and what a person does with it."""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Sequence
from pathlib import Path

import nbformat
from playwright.sync_api import ConsoleMessage, Locator, Page, expect
from playwright.sync_api import Error as PageError

from tests.browser.servers import Server

SCREENSHOTS = Path(__file__).parent / "screenshots"
ASKED = bool(os.environ.get("JAXSTAGE_SCREENSHOTS"))
PATIENCE = 120_000
"""Milliseconds that anything may take on a machine that does much else; what is there sooner takes none of it."""
expect.set_options(timeout=PATIENCE)
NOT_OURS = (
    "Cannot read properties of undefined (reading 'schema')",  # Notebook 7's own
    "Could not restore the debugger state",  # JupyterLab's own, when a kernel restarts
    "Canceled future for create_subshell_request",  # likewise, when it restarts before widgets have their subshell
    "Failed to load resource",
    "WebSocket",
)
KERNEL_IDLE = """() => {
    const kernel = window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel;
    return kernel?.status === 'idle' && kernel?.connectionStatus === 'connected';
}"""

OPEN = """async path => {
    const { commands, shell } = window.jupyterapp;
    const widget = await commands.execute('docmanager:open', { path, factory: 'Notebook' });
    await widget.context.ready;
    for (const other of [...shell.widgets('main')]) if (other !== widget) other.dispose();
}"""
CURRENT_AND_IDLE = """path => {
    const { shell } = window.jupyterapp;
    const widget = [...shell.widgets('main')].find(one => one.context?.path === path);
    if (!widget) return false;
    if (shell.currentWidget !== widget) {
        // what has the focus already gets no event of it, which is what JupyterLab waits for
        document.activeElement?.blur();
        shell.activateById(widget.id);
        return false;
    }
    const kernel = widget.sessionContext?.session?.kernel;
    return kernel?.status === 'idle' && kernel?.connectionStatus === 'connected';
}"""


def written(folder: Path, cells: Sequence[str]) -> str:
    """The name of a new notebook of these code cells."""
    name = f"{uuid.uuid4().hex[:8]}.ipynb"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source.strip()) for source in cells])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, folder / name)
    return name


def pictured(page: Page, name: str, *, asked: bool = ASKED, full_page: bool = False) -> None:
    """A picture for a person who looks, where one is asked for."""
    if asked:
        SCREENSHOTS.mkdir(exist_ok=True)
        file = re.sub(r"[^-. \w]", "_", name)[:120] + ".png"
        page.screenshot(path=SCREENSHOTS / file, full_page=full_page)


IN_VIEW = """list => {
    const box = list.getBoundingClientRect();
    return [...list.querySelectorAll('[data-row]')].filter(row => {
        const at = row.getBoundingClientRect();
        return at.top >= box.top - 1 && at.bottom <= box.bottom + 1;
    }).map(row => row.querySelector('.jxs-line').innerText.trim());
}"""


REVEAL = """async (list, [text, patience]) => {
    const frame = () => new Promise(requestAnimationFrame);
    const rows = () => [...list.querySelectorAll('[data-row]')];
    const isSeen = row => {
        const [box, at] = [list, row].map(element => element.getBoundingClientRect());
        return at.top >= box.top - 1 && at.bottom <= box.bottom + 1;
    };
    const until = performance.now() + patience;
    list.scrollTop = 0;
    do {
        await frame();
        await frame(); // the rows of this place are drawn
        if (rows().some(row => isSeen(row) && row.querySelector('.jxs-line').innerText.includes(text))) return true;
        if (list.querySelector('[data-row] .jxs-waiting')) continue;
        const isAtEnd = list.scrollTop + list.clientHeight >= list.scrollHeight - 1;
        list.scrollTop = isAtEnd ? 0 : list.scrollTop + list.clientHeight / 2;
    } while (performance.now() < until);
    return false;
}"""
"""Scrolls a list from its top until a row with the text is in view; begins again at the end, while rows may come."""
SETTLE = """async (root, [busy, patience]) => {
    const frame = () => new Promise(requestAnimationFrame);
    const until = performance.now() + patience;
    for (let calm = 0; calm < 4; ) {
        await frame();
        calm = root.querySelector(busy) ? 0 : calm + 1;
        if (performance.now() > until) throw new Error(`still busy: ${root.querySelector(busy)?.outerHTML}`);
    }
}"""
BUSY = ".jxs-waiting, [aria-busy='true'], [data-ready='false']"


def settle(panel: Locator, patience: int = PATIENCE) -> None:
    """Wait until nothing in the panel is being computed any more, and what was is drawn."""
    panel.evaluate(SETTLE, [BUSY, patience])


class NotebookPage:
    """A notebook as a person sees it. `errors` holds what went wrong in the page and is ours."""

    def __init__(self, page: Page, server: Server, name: str, *, is_own: bool = True) -> None:
        self.page, self.server, self.name, self.is_own = page, server, name, is_own
        self.errors: list[str] = []
        page.set_default_timeout(PATIENCE)
        self._listeners = {"console": self._heard, "pageerror": self._failed, "request": self._asked}
        for event, listener in self._listeners.items():
            page.on(event, listener)  # type: ignore[call-overload]

    def stop_listening(self) -> None:
        for event, listener in self._listeners.items():
            self.page.remove_listener(event, listener)

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self._note(message.text)

    def _failed(self, error: PageError) -> None:
        """Note an exception of the page, unless no script of ours took part: ours come from blob: addresses."""
        stack = error.stack or ""
        is_known = "removeChild" in error.message or (error.message == "Disposed" and "_handleNewSession" in stack)
        is_of_the_host = is_known and "jlab_core" in stack and "blob:" not in stack
        if not is_of_the_host:  # JupyterLab's own, when the theme is switched or a notebook closes before its session
            self._note(f"{error.message}\n{stack}")

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
        self.page.wait_for_function("() => !!window.jupyterapp", polling=100)
        self.page.evaluate("() => window.jupyterapp.restored.then(() => true)")
        self.page.wait_for_selector(".jp-Notebook .jp-Cell")
        self.wait_idle()

    def open_here(self, patience: int = PATIENCE) -> None:
        """Open in a JupyterLab that has no document open, and wait for a kernel that listens.

        Raises TimeoutError of playwright where the document does not become JupyterLab's current one.
        """
        self.page.bring_to_front()  # a window behind others gets no events of the focus
        self.page.mouse.move(2, 2)
        self.page.evaluate(OPEN, self.name)
        self.page.wait_for_selector(".jp-Notebook .jp-Cell")
        self.page.wait_for_function(CURRENT_AND_IDLE, arg=self.name, polling=100, timeout=patience)

    def wait_idle(self) -> None:
        self.page.wait_for_function(KERNEL_IDLE, polling=100)

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

    def theme(self, name: str) -> None:
        """Light or Dark; Jupyter remembers it for its next pages."""
        self.page.evaluate(
            "name => window.jupyterapp.commands.execute('apputils:change-theme', {theme: `JupyterLab ${name}`})", name
        )
        self.page.wait_for_selector(f'body[data-jp-theme-name="JupyterLab {name}"]', state="attached")

    def panels(self) -> Locator:
        return self.page.locator(".jp-OutputArea-output .jaxstage")

    def panel(self, index: int = 0) -> PanelOnPage:
        panel = self.panels().nth(index)
        panel.wait_for()
        return PanelOnPage(panel)

    def screenshot(self, name: str) -> None:
        """For a person who looks, with JAXSTAGE_SCREENSHOTS=1."""
        pictured(self.page, name)


class PanelOnPage:
    """One panel, and the rows that are lit in its panes."""

    def __init__(self, root: Locator) -> None:
        self.root = root

    def pane(self, doc: str) -> Locator:
        return self.root.locator(f'[data-doc="{doc}"]')

    def row(self, doc: str, text: str) -> Locator:
        """The first drawn row of a pane that holds the text."""
        return self.pane(doc).locator("[data-row]", has_text=text).first

    def reveal(self, doc: str, text: str) -> Locator:
        """Scroll a pane from its top until a row that holds the text is in view."""
        found = self.pane(doc).locator(".jxs-code").evaluate(REVEAL, [text, PATIENCE])
        assert found, f"no row of {doc} holds {text!r}"
        return self.row(doc, text)

    def show_panes(self, *docs: str) -> None:
        """Open these panes and no others, and wait until they hold their text."""
        for toggle in self.root.locator('[role="group"][aria-label="panes"] [data-toggle]').all():
            wanted = toggle.get_attribute("data-toggle") in docs
            if wanted != (toggle.get_attribute("aria-pressed") == "true"):
                toggle.click()
        for doc in docs:
            self.root.locator(f'[data-doc="{doc}"][data-ready="true"] [data-row]').first.wait_for()

    def tab(self, view: str) -> Locator:
        return self.root.locator(f'[role="tab"][data-view="{view}"]')

    def stage(self, name: str, state: str) -> Locator:
        return self.root.locator(f'[data-stage="{name}"][data-state="{state}"]')

    def lit(self, doc: str, how: str = "strong") -> list[str]:
        """Texts of the drawn rows that are lit: strong, weak, selected, inferred or error."""
        settle(self.root)
        texts = self.pane(doc).locator(f"[data-row].jxs-{how} .jxs-line").all_inner_texts()
        return [text.strip() for text in texts]

    def wait_lit(self, doc: str, how: str = "strong", holding: str = "") -> list[str]:
        """The texts of the rows that are lit, once there is one that holds this."""
        rows = self.pane(doc).locator(f"[data-row].jxs-{how}", has_text=holding or None)
        expect(rows.first, f"a {how} row of {doc} that holds {holding!r}").to_be_attached()
        return self.lit(doc, how)

    def in_view(self, doc: str) -> list[str]:
        """Texts of the rows that a person sees in the pane, not those drawn beyond its edge."""
        settle(self.root)
        return self.pane(doc).locator(".jxs-code").evaluate(IN_VIEW)

    def scroll(self, doc: str, to: int) -> None:
        self.pane(doc).locator(".jxs-code").evaluate("(list, to) => { list.scrollTop = to; }", to)

    def detail(self) -> str:
        settle(self.root)
        return self.root.locator(".jxs-words").inner_text()

    def clear(self) -> None:
        """Nothing hovered, nothing selected, no search open."""
        for close in self.root.get_by_label("Close search").all():
            close.click()
        self.root.locator(".jxs-code").first.press("Escape")
        self.root.page.mouse.move(2, 2)
