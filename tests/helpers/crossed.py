"""Parameters of which each meets the first of the others on a push, and every one of them in `make test-all`."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

import pytest

REASON = "each value meets the first of the other parameter; the other pairs go through the same lines"


def crossed(first: Iterable[Any], second: Iterable[Any]) -> list[Any]:
    """All pairs for `parametrize("a, b", …)`: those with the first of either as they are, the others `seldom`."""
    ones, others = [*first], [*second]
    return [
        pytest.param(a, b, id=f"{_name(a)}-{_name(b)}", marks=() if i == 0 or j == 0 else pytest.mark.seldom(REASON))
        for (i, a), (j, b) in product(enumerate(ones), enumerate(others))
    ]


def _name(value: Any) -> str:
    return str(getattr(value, "__name__", value))
