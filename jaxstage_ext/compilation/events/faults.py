"""Reading JAX's frames must never fail in the user's call: what cannot be read is missing, and counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from jaxstage_ext.compilation.records.compile_log import LOG

_T = TypeVar("_T")


def quietly(default: _T, ask: Callable[..., _T], *given: Any) -> _T:
    """What `ask` gives, or the default where it fails. An interrupt is the user's, and is raised."""
    try:
        return ask(*given)
    except Exception as error:
        LOG.fault(error)
        return default
