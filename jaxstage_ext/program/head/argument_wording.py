"""What is said of arguments that are not as the user may think: traced with another dtype, or deleted."""

from __future__ import annotations

from collections.abc import Sequence

from jaxstage_ext.program.head.call_arguments import Narrowed

_MOST_NAMED = 3


def narrowing(arrays: Sequence[Narrowed]) -> list[str]:
    """`x is float64; JAX made it float32: jax_enable_x64 is off.`, a sentence for each pair of dtypes."""
    groups: dict[tuple[str, str], list[str]] = {}
    for array in arrays:
        groups.setdefault((array.given, array.seen), []).append(array.name)
    return [
        f"{_named(names)} {_be(names, 'is', 'are')} {given}; JAX made {_be(names, 'it', 'them')} {seen}: "
        "jax_enable_x64 is off."
        for (given, seen), names in groups.items()
    ]


def deletion(names: Sequence[str]) -> list[str]:
    """That arrays were deleted; nothing where none was."""
    if not names:
        return []
    which = f"{_named(names)} {_be(names, 'was', 'were')} deleted, as donation does"
    return [f"{which}: what is shown here holds, but the program cannot be run on deleted arrays."]


def _be(names: Sequence[str], one: str, several: str) -> str:
    return one if len(names) == 1 else several


def _named(names: Sequence[str]) -> str:
    if len(names) > _MOST_NAMED:
        return f"{', '.join(names[:_MOST_NAMED])} and {len(names) - _MOST_NAMED} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
