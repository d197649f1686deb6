"""Source lines that stand in an instruction's own metadata, as XLA writes them where it has no table of call stacks.

So do torch-xla, TensorFlow, and JAX of before such tables: `metadata={source_file="train.py" source_line=7}`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

_NO_COLUMN = -1
"""Columns count from 0 in the tables."""
_FUNCTION = re.compile(r"([^\W\d]\w*)@([^@]+)")
"""A file as torch-xla names it: "forward@mobilenetv2.py"."""


class InlinePlace(NamedTuple):
    """A line of source without its callers; columns and the last line are 0 where they are not given."""

    file: str
    line: int
    end_line: int = 0
    column: int = 0
    end_column: int = 0


def add(index: Any, places: Iterable[InlinePlace | None]) -> list[int]:
    """The number of each place as a stack frame of the index, which gets those that it lacks; 0 for None."""
    known: dict[InlinePlace, int] = {}
    files: dict[str, int] = {}
    functions: dict[str, int] = {}
    numbers = []
    for place in places:
        if place is None:
            numbers.append(0)
            continue
        if place not in known:
            named = _FUNCTION.fullmatch(place.file)
            function, file = (named[1], named[2]) if named else ("", place.file)
            location = index.file_locations.add()
            location.file_name_id = _number(file, files, index.file_names)
            if function:
                location.function_name_id = _number(function, functions, index.function_names)
            location.line, location.end_line = place.line, place.end_line
            location.column = place.column or _NO_COLUMN
            location.end_column = place.end_column
            index.stack_frames.add().file_location_id = len(index.file_locations)
            known[place] = len(index.stack_frames)
        numbers.append(known[place])
    return numbers


def _number(name: str, known: dict[str, int], names: Any) -> int:
    """The number of a name, from 1, which is added where it is new."""
    if name not in known:
        names.append(name)
        known[name] = len(names)
    return known[name]
