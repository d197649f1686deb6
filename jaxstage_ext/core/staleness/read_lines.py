"""The lines on which functions read a value by its name."""

from __future__ import annotations

from typing import Any, NamedTuple

from jaxstage_ext.core.staleness.code_reads import lines_of_reads
from jaxstage_ext.core.staleness.named_values import NamedValues


class ReadLine(NamedTuple):
    """A line that reads a value."""

    file: str
    line: int


def read_line(fn: Any, name: str, within: str) -> ReadLine | None:
    """The first line that reads "self.gain", "k", or a part of it, as of "cfg.sizes[0]"; None where none is found.

    Of the user's functions that the call may go through, the one that is called `within` comes first.
    """
    for function in sorted(NamedValues(fn).functions, key=lambda function: function.__name__ != within):
        found = [(str(read), line) for read, line in lines_of_reads(function.__code__) if line]
        reading = [
            (len(text), -line) for text, line in found if name == text or name.startswith((f"{text}.", f"{text}["))
        ]
        if reading:
            return ReadLine(function.__code__.co_filename, -max(reading)[1])
    return None
