"""The Python stack of a process that does not answer: a thread of it writes it, when asked."""

from __future__ import annotations

import contextlib
import os
import re
import time
from dataclasses import dataclass, replace

from jaxstage_ext.processes.inside.engine_setup import process_start
from jaxstage_ext.processes.inside.stack_teller import JITTED, PIPE, UNREADY

_THREAD = re.compile(r"^(?:Current thread|Thread) 0x(?P<number>[0-9a-f]++).*\(most recent call first\):$")
_FRAME = re.compile(r'^  File "(?P<file>.*)", line (?P<line>\d+|\?\?\?) in (?P<name>.*)$')
_JITTED = re.compile(rf"^    {JITTED} (?P<name>\w++) = (?P<function>.*)$")
_LONGEST, _QUIET, _PAUSE = 1.0, 0.03, 0.01
"""Seconds until a stack must have come; without a change until it is whole; between looks."""


@dataclass(frozen=True)
class StackFrame:
    """A call on the stack: `line` counts from 1, 0 where it is unknown.

    Attributes:
      jitted: (a name of the code, the own name of the jitted function that it stands for).
    """

    file: str
    line: int
    name: str
    jitted: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class StackFile:
    """Where a process writes its stacks.

    Attributes:
      pid: the process.   started: when it was started, which tells it from a later one of the same number.
      path: the file.   main_thread: the number of its main thread.
    """

    pid: int
    started: float
    path: str
    main_thread: int

    @property
    def is_here(self) -> bool:
        """Whether the process runs on this machine, and can be asked."""
        return os.path.exists(self.path) and self.started > 0 and process_start(self.pid) == self.started


@dataclass(frozen=True)
class ToldStack:
    """What a process tells: the frames of its main thread, the innermost call first.

    Attributes:
      unready: how many of its arrays are not computed yet.
    """

    frames: tuple[StackFrame, ...]
    unready: int = 0


def ask_for_stacks(files: list[StackFile]) -> dict[int, ToldStack]:
    """The stacks of the main threads, by pid. Takes a second at most; some may lack."""
    sizes = {file.pid: os.path.getsize(file.path) for file in files if file.is_here}
    for file in files:
        if file.pid in sizes:
            _ask(file.path)
    texts = {file.pid: _written(file.path, sizes[file.pid]) for file in files if file.pid in sizes}
    return {
        file.pid: ToldStack(stack_of(text, file.main_thread), unready_of(text))
        for file in files
        if (text := texts.get(file.pid))
    }


def _ask(path: str) -> None:
    with contextlib.suppress(OSError):  # it has ended since
        pipe = os.open(path + PIPE, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            os.write(pipe, b"?")
        finally:
            os.close(pipe)


def _written(path: str, size: int) -> str:
    deadline, since, former = time.monotonic() + _LONGEST, time.monotonic(), size
    while time.monotonic() < deadline:
        now = os.path.getsize(path)
        if now != former:
            former, since = now, time.monotonic()
        elif now > size and time.monotonic() - since > _QUIET:
            break
        time.sleep(_PAUSE)
    with open(path, "rb") as file:
        file.seek(size)
        return file.read().decode("utf-8", "replace")


def stack_of(text: str, thread: int) -> tuple[StackFrame, ...]:
    """The frames of a thread, by its number, in what `faulthandler` has written; () where it is not there."""
    frames: list[StackFrame] = []
    is_it = False
    for line in text.splitlines():
        if head := _THREAD.match(line):
            is_it = int(head["number"], 16) == thread
        elif is_it and (frame := _FRAME.match(line)):
            number = int(frame["line"]) if frame["line"].isdigit() else 0
            frames.append(StackFrame(frame["file"], number, frame["name"]))
        elif is_it and frames and (jitted := _JITTED.match(line)):
            names = (*frames[-1].jitted, (jitted["name"], jitted["function"]))
            frames[-1] = replace(frames[-1], jitted=names)
    return tuple(frames)


def unready_of(text: str) -> int:
    """How many arrays a process says that it has not computed yet."""
    numbers = [line.removeprefix(UNREADY).strip() for line in text.splitlines() if line.startswith(UNREADY)]
    return int(numbers[-1]) if numbers and numbers[-1].isdecimal() else 0
