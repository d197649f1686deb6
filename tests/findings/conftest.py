"""Findings are about figures, not about compiling: what workers answered is shared by all test files."""

from __future__ import annotations

from collections.abc import Iterator

import compiled_once
import pytest


@pytest.fixture(scope="module", autouse=True)
def shared_answers() -> Iterator[None]:
    with compiled_once.kept():
        yield
