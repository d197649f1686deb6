"""What is to be known of how layouts were searched."""

from __future__ import annotations

from collections.abc import Sequence

NO_PARAMETERS = (
    "no argument returns as a result of the same structure, so none was taken for parameters and storing parameters "
    "over an axis (FSDP) was not tried"
)


def assumed(names: Sequence[str]) -> str:
    """Which arguments were taken for parameters without a result to prove it."""
    listed = " and ".join(names)
    return f"no argument returns as a result of the same structure; {listed} was taken for parameters as a pytree"
