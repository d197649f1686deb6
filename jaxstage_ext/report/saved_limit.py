"""How many bytes a display saves in a notebook beside its static forms."""

from __future__ import annotations

USUAL = 500_000
_most = USUAL


def set_default(most: int) -> None:
    """How many bytes the saved report of one display may take; 0 for none."""
    global _most
    _most = most


def most_bytes() -> int:
    """How many bytes the saved report of one display may take; 0 for none."""
    return _most
