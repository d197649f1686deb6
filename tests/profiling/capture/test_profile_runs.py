"""How often `profile` runs a function that JAX does not compile."""

from __future__ import annotations

from typing import Any

import pytest

from jaxstage_ext import profile


@pytest.mark.parametrize(
    ("options", "runs"),
    [({}, 1), ({"warm": True}, 2), ({"steps": 3}, 4), ({"steps": 3, "cold": True}, 3), ({"cold": True}, 1)],
)
def test_a_plain_function_runs_once_more_only_to_warm_it(options: dict[str, Any], runs: int) -> None:
    ran: list[int] = []
    profile(lambda: ran.append(1), **options)
    assert len(ran) == runs
