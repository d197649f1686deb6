"""Truth is about figures, not about compiling: what absent devices' compilers gave is shared by all test files."""

from __future__ import annotations

from collections.abc import Iterator

import compiled_once
import pytest


@pytest.fixture(scope="package", autouse=True)
def shared_answers() -> Iterator[None]:
    with compiled_once.kept():
        yield


@pytest.fixture(autouse=True)
def nothing_is_remembered(shared_answers: None) -> Iterator[None]:
    """As everywhere, nothing is found in memory; what was compiled is in the folder that test processes share."""
    from jaxstage_ext.store import cache

    cache.clear()
    yield
    cache.enable(True)
