"""What is said of processes that have ended, whoever notices it."""

from __future__ import annotations

from collections.abc import Sequence

from jaxstage_ext.report.text.process_names import process_names

ENDED = "ended"
"""How a process ended of which no more is known."""

_UNTIL = "; programs of several processes fail until %processes restart"


def have_ended(group: Sequence[int], how: str) -> str:
    """That processes have ended, and how."""
    known = f" ({how})" if how not in ("", ENDED) else ""
    has = "has" if len(group) == 1 else "have"
    return f"{process_names(group)} {has} ended{known}"


def no_programs(group: Sequence[int], how: str) -> str:
    """The same of a job that runs, and what to do."""
    return f"{have_ended(group, how)}{_UNTIL}"


def joined(texts: Sequence[str]) -> str:
    """Several sentences as one line, which says what to do once."""
    ended = [text for text in texts if text.endswith(_UNTIL)]
    return "; ".join(text.removesuffix(_UNTIL) if text in ended[:-1] else text for text in texts)
