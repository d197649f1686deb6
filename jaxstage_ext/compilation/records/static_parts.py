"""In what the static parts of two pytrees differ, such as the fields of a module that hold no arrays."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any, Final

from jaxstage_ext.compilation.causes.cause import Cause, Difference
from jaxstage_ext.compilation.causes.sameness import equal
from jaxstage_ext.report.text.bounded_repr import plain_pair, type_name

_DEEPEST: Final = 8
_MOST: Final = 8
_LONGEST: Final = 80
_NNX_GRAPH: Final = "._graphdef"
"""Where flax.nnx keeps the static parts of a module."""


def static_part_differences(path: str, old: Any, new: Any) -> Iterator[Difference]:
    """The first few parts that differ, each by the name that its author gave it, as far as that is known."""
    path = path.replace(_NNX_GRAPH, "")
    every = [difference for difference in _differences(path, old, new, 0) if difference.what != path]
    yield from every[:_MOST] or [_whole(path, old, new)]


def named_statics(kind: Any, static: Any, keys: Sequence[str]) -> Any:
    """What a node says of itself; of a dataclass by the names of the fields that are not its children, where they fit.

    Args:
      kind: its class.
      static: what it says of itself.
      keys: those of its children, ".w".
    """
    if type(static) is not tuple or not dataclasses.is_dataclass(kind):
        return static
    names = [field.name for field in dataclasses.fields(kind) if f".{field.name}" not in keys]
    own = static[-len(names) :] if _is_equinox(kind) and names else static  # Equinox puts those of functions first
    return dict(zip(names, own, strict=True)) if len(own) == len(names) else static


def _is_equinox(kind: Any) -> bool:
    return any(base.__module__.partition(".")[0] == "equinox" for base in kind.__mro__)


def _differences(path: str, old: Any, new: Any, depth: int) -> Iterator[Difference]:
    if old is new or equal(old, new) is True:
        return
    pairs = _parts(old, new) if depth < _DEEPEST else None
    inner = [d for key, one, other in pairs or () for d in _differences(_joined(path, key), one, other, depth + 1)]
    yield from inner or [_whole(path, old, new)]


def _parts(old: Any, new: Any) -> list[tuple[str, Any, Any]] | None:
    """What two values of one type hold, by name; None of values that hold nothing, or not as much."""
    if type(old) is not type(new):
        return None
    if dataclasses.is_dataclass(old):
        names = [field.name for field in dataclasses.fields(old)]
        return [("", getattr(old, name, None), getattr(new, name, None)) for name in names]
    if isinstance(old, tuple | list) and len(old) == len(new):
        key = _key(old) if _key(old) == _key(new) else ""
        return [(key, one, other) for one, other in zip(old, new, strict=True)]
    if isinstance(old, dict) and old.keys() == new.keys():
        return [(str(key), old[key], new[key]) for key in old]
    return None


def _key(pair: Any) -> str:
    """The name in a pair of a name and its value."""
    return pair[0] if len(pair) == 2 and type(pair[0]) is str and pair[0].isidentifier() else ""


def _joined(path: str, key: str) -> str:
    return f"{path}.{key}" if key else path


def _whole(path: str, old: Any, new: Any) -> Difference:
    by_identity = type(old) is type(new) and getattr(type(old), "__eq__", None) is object.__eq__
    if by_identity:
        return Difference(Cause.STATIC_IDENTITY, path, type_name(old), type_name(new))
    return Difference(Cause.STATIC_VALUE, path, *plain_pair(old, new, _LONGEST))
