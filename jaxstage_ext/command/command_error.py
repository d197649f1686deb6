"""A mistake of whoever typed a command: one line and status 2."""

from __future__ import annotations


class CommandError(Exception):
    """What was typed, or the file that it names, cannot be used; the message says why in one line."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))
