"""XLA's tables of stack frames as it prints them above a module, in the form of the proto's StackFrameIndex.

FileNames
1 "/tmp/cell.py"
FunctionNames
1 "<module>"
FileLocations
1 {file_name_id=1 function_name_id=1 line=4 end_line=4 column=6 end_column=18}
StackFrames
1 {file_location_id=1 parent_frame_id=1}
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

_STRING = re.compile(r'\d+ "((?:[^"\\]|\\.)*)"$')
_FIELD = re.compile(r"(?<!\w)(\w++)=(-?\d+)")


@dataclass
class FilePlace:
    """A FileStackLocation of the proto; fields that are not printed are 0."""

    file_name_id: int = 0
    function_name_id: int = 0
    line: int = 0
    column: int = 0
    end_line: int = 0
    end_column: int = 0


@dataclass
class Frame:
    """A StackFrame of the proto; a parent of 0 means none."""

    file_location_id: int = 0
    parent_frame_id: int = 0


_Row = TypeVar("_Row")


class GrowingList(list[_Row]):
    """A list that makes its own elements, as a repeated field of a proto does."""

    def __init__(self, kind: Callable[[], _Row]) -> None:
        super().__init__()
        self._kind = kind

    def add(self) -> _Row:
        self.append(self._kind())
        return self[-1]


@dataclass
class Index:
    """The proto's StackFrameIndex; numbers in it count from 1."""

    file_names: list[str] = field(default_factory=list)
    function_names: list[str] = field(default_factory=list)
    file_locations: GrowingList[FilePlace] = field(default_factory=lambda: GrowingList(FilePlace))
    stack_frames: GrowingList[Frame] = field(default_factory=lambda: GrowingList(Frame))


def read(lines: Sequence[str]) -> Index:
    """The tables that these lines print. XLA prints a parent's number plus one, so 1 means none."""
    index = Index()
    into = ""
    for line in lines:
        if not line or not line[0].isdigit():
            into = line
        elif into in ("FileNames", "FunctionNames"):
            string = _STRING.match(line)
            names = index.file_names if into == "FileNames" else index.function_names
            names.append(re.sub(r"\\(.)", r"\1", string[1]) if string else "")
        elif into == "FileLocations":
            known = {name: int(value) for name, value in _FIELD.findall(line) if name in FilePlace.__annotations__}
            index.file_locations.append(FilePlace(**known))
        elif into == "StackFrames":
            fields = dict(_FIELD.findall(line))
            parent = int(fields.get("parent_frame_id", 1)) - 1
            index.stack_frames.append(Frame(int(fields.get("file_location_id", 0)), max(parent, 0)))
    return index
