"""The leaves of pytrees and the text of the paths to them, whatever keys and classes of the user's take part."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import jax

from jaxstage_ext.report.text.bounded_repr import bounded_str, plain_repr

_LONGEST = 200


def path_text(path: Iterable[Any]) -> str:
    """`['w'][0].bias`, as `jax.tree_util.keystr`, with keys that are no text or number by their types: `[<Key>]`."""
    return "".join(map(_entry, path))


def _entry(entry: Any) -> str:
    if isinstance(entry, jax.tree_util.DictKey):
        return f"[{plain_repr(entry.key, _LONGEST)}]"
    return bounded_str(entry, _LONGEST)


def leaves_with_paths(value: Any) -> list[tuple[Any, Any]]:
    """(path, leaf) of each leaf; none of a pytree whose own class fails to flatten it, which JAX does not trace."""
    try:
        return list(jax.tree_util.tree_leaves_with_path(value))
    except Exception:
        return []


def leaves(value: Any) -> list[Any]:
    """The leaves without their paths, which takes a tenth of the time."""
    try:
        return list(jax.tree.leaves(value))
    except Exception:
        return []
