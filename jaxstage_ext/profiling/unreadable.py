"""Why a profile, or another file, cannot be opened."""

from __future__ import annotations

from jaxstage_ext.report.deliberate_error import DeliberateError


class UnreadableProfile(DeliberateError, ValueError):
    """A file is not a profile, or is damaged. The message says what it is, where, and what to do."""


class NotAProfile(UnreadableProfile):
    """A file begins as no profile does."""


class NoProfile(UnreadableProfile):
    """A folder has no profile in it."""


class TooLarge(UnreadableProfile):
    """A file has more bytes than are read."""


MOST_EVENTS = 6_000_000
"""Five million take some 4 GB while they are read; few bytes of a compressed file may hold any number."""


def check_event_count(count: int, title: str) -> None:
    """Raise TooLarge where a profile has more events than are read."""
    if count > MOST_EVENTS:
        raise TooLarge(f"{title} has {count:,} events; {MOST_EVENTS:,} are the most that are read: profile fewer steps")
