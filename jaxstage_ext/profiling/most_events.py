"""How many events of a profile are read."""

from __future__ import annotations

from jaxstage_ext.profiling.unreadable import TooLarge

MOST_EVENTS = 6_000_000
"""Five million take some 4 GB while they are read; few bytes of a compressed file may hold any number."""


def check(count: int, title: str) -> None:
    """Raise TooLarge where a profile has more events than are read."""
    if count > MOST_EVENTS:
        raise TooLarge(f"{title} has {count:,} events; {MOST_EVENTS:,} are the most that are read: profile fewer steps")
