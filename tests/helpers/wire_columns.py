"""Columns of a reply, read as the page reads them."""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


def columns(result: Mapping[str, Any], buffers: Sequence[bytes]) -> dict[str, list[Any]]:
    """Every column by name: numbers, or texts with None where there is none. Of a reply of several, one of them."""
    first, strings = result.get("first"), result.get("strings", {})
    own = buffers[first:] if isinstance(first, int) else buffers
    return {
        described["name"]: _values(described, gzip.decompress(data), strings)
        for described, data in zip(result["columns"], own, strict=False)
    }


def _values(described: Mapping[str, Any], data: bytes, strings: Mapping[str, Sequence[str]]) -> list[Any]:
    if described["dtype"] == "text":
        return data.decode().split("\n") if data else []
    values: list[Any] = np.frombuffer(data, f"<{described['dtype']}").tolist()
    if described["name"] not in strings:
        return values
    return [strings[described["name"]][code] if code >= 0 else None for code in values]
