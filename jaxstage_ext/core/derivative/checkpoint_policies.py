"""The policies of `jax.checkpoint` by name."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any, cast

import jax

POLICIES = ("nothing_saveable", "dots_with_no_batch_dims_saveable", "dots_saveable", "everything_saveable")
"""Names in `jax.checkpoint_policies`, from the fewest residuals to the most."""


def policy(given: str | Callable[..., Any]) -> Callable[..., Any]:
    """A policy, given itself or by its name. Raises ValueError for a name that is not one."""
    if callable(given):
        return given
    named = getattr(jax.checkpoint_policies, given, None) if isinstance(given, str) else None
    if callable(named):
        return cast(Callable[..., Any], named)
    near = difflib.get_close_matches(str(given), POLICIES, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(POLICIES)}, and functions such as those"
    raise ValueError(f"{given!r} is not a policy of jax.checkpoint_policies; {hint}")
