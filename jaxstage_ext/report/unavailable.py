"""The one exception for what cannot be known or made here."""

from __future__ import annotations

from jaxstage_ext.report.deliberate_error import DeliberateError


class Unavailable(DeliberateError, ValueError):
    """A figure, a table or a document that cannot be known or made here, because of `reason`.

    It is a ValueError, so `except ValueError` catches it.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(" ".join(reason.split()))

    @property
    def reason(self) -> str:
        """Why it is unavailable, in one line."""
        return str(self.args[0])
