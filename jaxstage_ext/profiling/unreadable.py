"""Why a profile cannot be opened."""

from __future__ import annotations

from jaxstage_ext.report.deliberate_error import DeliberateError


class UnreadableProfile(DeliberateError, ValueError):
    """A file is not a profile, or is damaged. The message says what it is, where, and what to do."""
