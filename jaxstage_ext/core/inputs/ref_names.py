"""What the Refs are called that a function closes over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxstage_ext.core.inputs import captured
from jaxstage_ext.core.jax_private.refs import CAPTURED, Namer


def namer(fn: Any) -> Namer:
    """Names by which the function reaches its Refs, "state.count"; the same for all where it does not say."""

    def named(refs: Sequence[Any]) -> list[str]:
        found = captured.names(fn, refs) if refs else []
        return [names[0] if names else CAPTURED for names in found]

    return named
