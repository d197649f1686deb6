"""What is said where JAX runs an earlier version of a function than the one that the code now describes."""

from __future__ import annotations

from collections.abc import Sequence

from jaxstage_ext.core.staleness.traced_versions import ITSELF, ChangedName, OldVersion

_MOST_NAMES, _LONGEST_NAME = 3, 60


_TRACE_AGAIN = "jax.clear_caches() makes JAX trace again."


def note(version: OldVersion) -> str:
    """`k has changed since f was traced: JAX still runs the version with k = 2.0.`, and what helps."""
    return f"{sentence(version)} {_TRACE_AGAIN}"


def sentence(version: OldVersion) -> str:
    """`k has changed since f was traced: JAX still runs the version with k = 2.0.`"""
    if not version.changed:
        return (
            f"Traced again, {version.function} gives another jaxpr: something that it reads has changed since JAX "
            f"traced it, and {title(version)}."
        )
    names = _joined([_subject(changed, version) for changed in version.changed])
    verb = "have" if len(version.changed) > 1 else "has"
    since = "traced" if version.is_of_trace else "first inspected"
    return f"{names} {verb} changed since {version.function} was {since}: {title(version)}."


def title(version: OldVersion) -> str:
    """The note in a few words, for the line above the source: `JAX still runs the version with k = 2.0`."""
    if version.changed and all(changed.in_place for changed in version.changed):
        names = _joined([_short(changed.name) for changed in version.changed])
        return f"what JAX lowered before keeps the earlier contents of {names}"
    known = [changed for changed in version.changed if changed.text and not changed.in_place]
    if not known:
        return f"JAX still runs the earlier {version.function}"
    verb = "=" if version.is_of_trace else "was"
    values = _joined([f"{_short(changed.name)} {verb} {changed.text}" for changed in known])
    if version.is_of_trace:
        return f"JAX still runs the version with {values}"
    return f"JAX still runs what it traced when {values}, or before"


def titles(versions: Sequence[OldVersion]) -> dict[str, str]:
    """What is said above the source of each file that has one of these functions."""
    files = dict.fromkeys(version.file for version in versions)
    return {file: "; ".join(dict.fromkeys(title(one) for one in versions if one.file == file)) for file in files}


def _subject(changed: ChangedName, version: OldVersion) -> str:
    return f"the code of {version.function}" if changed.name == ITSELF else _short(changed.name)


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[:15]}…{name[-_LONGEST_NAME + 16 :]}"


def _joined(parts: Sequence[str]) -> str:
    shown, left = parts[:_MOST_NAMES], len(parts) - _MOST_NAMES
    if left > 0:
        return f"{', '.join(shown)} and {left:,} more"
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))
