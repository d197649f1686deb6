"""Calls are counted and asserted on afterwards: a failure inside a callback may be caught by what calls it."""

from __future__ import annotations

from typing import Any

import pytest


def calls_of(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> list[tuple[Any, ...]]:
    """The positional arguments of each call of a function from now on; it does what it always does."""
    calls: list[tuple[Any, ...]] = []
    function = getattr(owner, name)

    def counted(*args: Any, **named: Any) -> Any:
        calls.append(args)
        return function(*args, **named)

    monkeypatch.setattr(owner, name, counted)
    return calls
