"""The limit above which the text of a module elides its constants."""

from __future__ import annotations

from typing import Any

import numpy as np

LARGE_CONSTANTS = 65_536
"""The most bytes of constants that the text of a module prints in full."""


def spelled_out(traced: Any) -> bool:
    """Whether the text of a traced program's module prints its constants in full."""
    return constant_bytes(traced) <= LARGE_CONSTANTS


def constant_bytes(traced: Any) -> int:
    """Total bytes of the arrays that a program closes over."""
    consts = getattr(traced.jaxpr, "consts", ()) if traced is not None else ()
    return sum(int(np.size(c)) * int(np.dtype(getattr(c, "dtype", np.float64)).itemsize) for c in consts if _plain(c))


def _plain(const: Any) -> bool:
    return hasattr(const, "dtype") and not str(const.dtype).startswith("key<")
