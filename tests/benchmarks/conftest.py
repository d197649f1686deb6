"""A benchmark whose goal is missed fails, with its figure; those that open a page share the browser tests' servers."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.benchmarks import table
from tests.browser.conftest import browser, lab, open_notebook, playwright

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.browser.pages import Pages

__all__ = ["browser", "lab", "open_notebook", "playwright"]


@pytest.fixture(scope="session")
def mother() -> None:
    """What is measured begins as a user's does: a kernel of its own,"""


@pytest.fixture(scope="session")
def pages(browser: Browser) -> Iterator[Pages]:
    """and a page of its own."""
    from tests.browser.pages import pages_of

    with pages_of(browser.new_context(), reused=False) as pages:
        yield pages


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call() -> Generator[None, Any, Any]:
    table.missed.clear()
    result = yield
    if table.missed:
        pytest.fail("\n".join(["missed:", *table.missed]), pytrace=False)
    return result
