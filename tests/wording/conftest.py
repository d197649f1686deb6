"""The sentences are recorded as they are said in IPython; `test_outside_ipython` has those that differ elsewhere."""

from __future__ import annotations

import pytest

from jaxstage_ext.report.text import typed_forms


@pytest.fixture(autouse=True)
def in_ipython(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typed_forms, "in_ipython", lambda: True)
