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
