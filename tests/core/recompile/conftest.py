"""What tests of recompiles share."""

from __future__ import annotations

from typing import Any

import pytest

from jaxstage_ext.worker import pool


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The methods that workers are asked for."""
    methods: list[str] = []
    ask = pool.ask

    def counted(platform: str, request: Any, *how: Any, **more: Any) -> Any:
        methods.append(request["method"])
        return ask(platform, request, *how, **more)

    monkeypatch.setattr(pool, "ask", counted)
    return methods
