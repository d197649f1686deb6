"""The pages of one Chromium: a JupyterLab that a test has left is used by the next, which opens its notebook there.

A page costs four seconds of a processor to load; a notebook in it, a tenth of that. A browser with a folder keeps
what it compiled of JupyterLab's scripts, which saves a third of the first.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from playwright.sync_api import TimeoutError as PageTimeout

from tests.browser.notebook_page import NotebookPage, pictured

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

    from tests.browser.servers import Server

REUSE = 30_000
"""Milliseconds after which a page that was left is given up: loading one takes four seconds."""
TIDY = """async () => {
    const { shell, restored } = window.jupyterapp;
    await restored;
    for (let frames = 0, dialog; (dialog = document.querySelector('.jp-Dialog')) && frames < 1000; frames++) {
        (dialog.querySelector('button.jp-mod-reject') ?? dialog.querySelector('button.jp-Dialog-button'))?.click();
        await new Promise(requestAnimationFrame);
    }
    const documents = [...shell.widgets('main')].filter(widget => widget.sessionContext);
    for (let frames = 0; frames < 100 && !documents.every(({ sessionContext }) => sessionContext.isReady); frames++) {
        await new Promise(requestAnimationFrame);
    }
    for (const widget of [...shell.widgets('main')]) widget.dispose();
    for (let frames = 0; ![...shell.widgets('main')].length && frames < 1000; frames++) {
        await new Promise(requestAnimationFrame);
    }
}"""
"""Closes all that is open, and waits for the Launcher, which JupyterLab opens then.

A dialog that is only taken out of the document goes on keeping the focus from everything else, and a notebook that is
disposed of while it looks for its session fails in the next test's time.
"""

WINDOW = "() => { window.open('about:blank', '_blank', 'popup,noopener'); }"


class Pages:
    """Those that are open, and of them those that no test uses."""

    def __init__(self, context: BrowserContext, *, reused: bool = True) -> None:
        self._context = context
        self._reused = reused
        self._left: list[NotebookPage] = []
        self._opener = context.new_page()
        self.used: list[NotebookPage] = []

    def take(self, server: Server, name: str, width: int, height: int, *, own: bool) -> NotebookPage:
        """A page with this notebook. One of its `own` is loaded for it, and closed after it."""
        at = next((at for at, page in enumerate(self._left) if page.server == server and not own), None)
        if at is not None and (notebook := self._opened_in(self._left.pop(at), name, width, height)):
            return notebook
        notebook = NotebookPage(self._window(), server, name, is_own=own)
        self.used.append(notebook)
        notebook.page.set_viewport_size({"width": width, "height": height})
        notebook.open()
        return notebook

    def _window(self) -> Page:
        """A window of its own: of two tabs of one window, the hidden one draws a frame a second."""
        with self._context.expect_page() as opened:
            self._opener.evaluate(WINDOW)
        return opened.value

    def _opened_in(self, left: NotebookPage, name: str, width: int, height: int) -> NotebookPage | None:
        """The notebook in a page that a test has left; None where JupyterLab does not make it current there."""
        notebook = NotebookPage(left.page, left.server, name, is_own=False)
        notebook.page.set_viewport_size({"width": width, "height": height})
        try:
            notebook.open_here(REUSE)
        except PageTimeout:
            notebook.stop_listening()
            notebook.page.close()
            return None
        self.used.append(notebook)
        return notebook

    def failed(self, test: str) -> None:
        """Keep what was seen, and let no other test go on with these pages."""
        for number, notebook in enumerate(self.used):
            notebook.is_own = True
            pictured(notebook.page, f"failed-{test}-{number}", asked=True)

    def leave(self, notebook: NotebookPage) -> None:
        self.used.remove(notebook)
        notebook.stop_listening()
        if notebook.errors or notebook.is_own or notebook.server.host != "lab" or not self._reused:
            notebook.page.close()
        else:
            notebook.page.evaluate(TIDY)
            self._left.append(notebook)

    def close(self) -> None:
        for notebook in self._left:
            notebook.page.close()
        self._opener.close()


@contextmanager
def pages_of(context: BrowserContext, *, reused: bool = True) -> Iterator[Pages]:
    pages = Pages(context, reused=reused)
    yield pages
    pages.close()
