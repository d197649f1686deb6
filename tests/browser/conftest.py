"""Servers and a Chromium for the whole session; a fresh page for each test."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Playwright

    from tests.browser.notebook_page import NotebookPage
    from tests.browser.pages import Pages
    from tests.browser.servers import Server

REQUIRED = os.environ.get("JAXSTAGE_BROWSER") == "required"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("browser")


def unavailable(why: str) -> None:
    """Skip where browser tests are a choice, fail where they are asked for."""
    if REQUIRED:
        pytest.fail(why)
    pytest.skip(why)


ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        unavailable("playwright is not installed")
    with sync_playwright() as playwright:
        yield playwright


def chromium() -> str:
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        unavailable("no Chromium on the PATH; CHROMIUM=/path names one")
    return path


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    browser = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def browser_profile(playwright: Playwright, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserContext]:
    """A Chromium with a folder, where it keeps what it compiled of JupyterLab: each later load takes two thirds."""
    folder = tmp_path_factory.mktemp("profile")
    context = playwright.chromium.launch_persistent_context(folder, executable_path=chromium(), args=ARGUMENTS)
    yield context
    context.close()


def serve(
    host: str, factory: pytest.TempPathFactory, mother: Path | None, *, extension: bool = True
) -> Iterator[Server]:
    from tests.browser.servers import running

    with running(host, factory.mktemp(host), extension=extension, mother=mother) as server:
        yield server


@pytest.fixture(scope="session")
def mother() -> Iterator[Path]:
    """What kernels are forked from, but for those that a test wants to begin as a user's do."""
    from tests.helpers.forked_kernels import mother_of_kernels

    with tempfile.TemporaryDirectory(prefix="jaxstage-") as folder, mother_of_kernels(Path(folder)) as socket:
        yield socket


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory, mother: Path) -> Iterator[Server]:
    yield from serve("lab", tmp_path_factory, mother)


@pytest.fixture(scope="session")
def plain_lab(tmp_path_factory: pytest.TempPathFactory, mother: Path) -> Iterator[Server]:
    """A JupyterLab without our extension."""
    yield from serve("lab", tmp_path_factory, mother, extension=False)


@pytest.fixture(scope="session")
def notebook7(tmp_path_factory: pytest.TempPathFactory, mother: Path) -> Iterator[Server]:
    yield from serve("notebook", tmp_path_factory, mother)


Opener = Callable[..., "NotebookPage"]


@pytest.fixture(scope="session")
def pages(browser_profile: BrowserContext) -> Iterator[Pages]:
    from tests.browser.pages import pages_of

    with pages_of(browser_profile) as pages:
        yield pages


@contextmanager
def opener(pages: Pages) -> Iterator[Opener]:
    """A function that opens notebooks; at the end fails if a page reported an error of ours."""
    from tests.browser.notebook_page import written

    opened: list[NotebookPage] = []

    def open_(
        server: Server,
        cells: Sequence[str] | str,
        width: int = 1400,
        height: int = 1000,
        own_page: bool = False,
        kernel: str = "python3",
    ) -> NotebookPage:
        notebook = cells if isinstance(cells, str) else written(server.folder, cells)
        server.start_kernel(notebook, kernel)
        opened.append(pages.take(server, notebook, width, height, own=own_page))
        return opened[-1]

    yield open_
    errors = [error for notebook in opened for error in notebook.errors]
    for notebook in opened:
        pages.leave(notebook)
        notebook.server.stop_kernel(notebook.name)
    assert not errors, "\n".join(errors)


@pytest.fixture
def open_notebook(pages: Pages) -> Iterator[Opener]:
    with opener(pages) as open_:
        yield open_


@pytest.fixture(scope="module")
def module_notebook(pages: Pages) -> Iterator[Opener]:
    """As `open_notebook`, but the pages stay open for all tests of a file."""
    with opener(pages) as open_:
        yield open_


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """What the pages showed when a test failed."""
    report = yield
    pages = getattr(item, "funcargs", {}).get("pages")
    if report.failed and pages is not None:
        pages.failed(item.name)
    return report
