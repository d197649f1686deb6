"""Requests to a panel, asked again until they are answered, as the front end does."""

from __future__ import annotations

import json
import time
from typing import Any

from jaxstage_ext.panel.requests import dispatch


def ask(program: Any, method: str, **params: Any) -> tuple[dict[str, Any], list[bytes]]:
    """The answer, which JSON can hold, and its buffers. Raises BadRequest as the request does."""
    for _ in range(3000):
        result, buffers = dispatch.answer([program], method, {"call": 0, **params})
        if "pending" not in result:
            json.dumps(result, allow_nan=False)
            return result, buffers
        time.sleep(0.02)
    raise AssertionError(f"{method} has not answered within a minute")
