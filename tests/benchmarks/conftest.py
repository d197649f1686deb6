"""A benchmark whose goal is missed fails, with its figure; those that open a page share the browser tests' servers."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from tests.benchmarks import table
from tests.browser.conftest import browser, lab, open_notebook

__all__ = ["browser", "lab", "open_notebook"]


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call() -> Generator[None, Any, Any]:
    table.missed.clear()
    result = yield
    if table.missed:
        pytest.fail("\n".join(["missed:", *table.missed]), pytrace=False)
    return result
