"""Where a process is just now, from its stack and its journal: pure functions of both."""

from __future__ import annotations

import enum
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from jaxstage_ext.ir.sources import source
from jaxstage_ext.processes.engines.process_stack import StackFrame
from jaxstage_ext.processes.inside.engine_journal import CELL, DONE, PROGRAM


@dataclass(frozen=True)
class NamedLine:
    """A line of code as the user knows it.

    Attributes:
      label: such as "In [3]:2".   code: its text; "" where nobody has it.
    """

    label: str
    code: str = ""


LineNames = Callable[[str, int], NamedLine]
"""How a line of a file is named to the user."""


class EngineActivity(enum.Enum):
    """What a process is doing."""

    IDLE = "idle"
    """It waits for something to do."""
    PROGRAM = "in a program"
    """It is at a line that runs a program of several processes."""
    GUARD = "at the guard"
    """It waits for the other processes to come to the same program."""
    RESULT = "waits for a result"
    COMPILING = "compiles"
    TRACING = "traces"
    PYTHON = "runs Python"
    ENDED = "ended"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class ProgramPlace:
    """A program that spans processes, and the line of the user's that ran it first.

    Attributes:
      name: of its module, such as "jit_step".   processes: on the devices of how many it runs.
    """

    name: str
    file: str
    line: int
    processes: int


@dataclass(frozen=True)
class EngineNotes:
    """What a process has noted in its journal.

    Attributes:
      programs: the programs that span processes, in the order of their first runs.
      busy_since: when its cell began, in seconds since 1970; None where no cell runs.
      cell: the file name of the last cell that began, without its folder; "" where that is unknown.
      has_failed: whether the last cell that ended did so with an error.
    """

    programs: tuple[ProgramPlace, ...] = ()
    busy_since: float | None = None
    cell: str = ""
    has_failed: bool = False


@dataclass(frozen=True)
class Whereabouts:
    """Where one process is.

    Attributes:
      line: the innermost line of the user's; None where there is none.
      program: where `activity` is PROGRAM, the program that this line was the last to compile, or whose name it has.
      is_inferred: whether the program is known by its name in the line alone.
      seconds: since its cell began, or since it was asked; None where that is unknown.
      reason: why it is unknown, or how it ended.
      cell, has_failed: as of `EngineNotes`.
      unready: how many of its arrays are not computed yet.
    """

    process: int
    activity: EngineActivity
    line: NamedLine | None = None
    program: ProgramPlace | None = None
    is_inferred: bool = False
    seconds: float | None = None
    reason: str = ""
    cell: str = ""
    has_failed: bool = False
    unready: int = 0


_NAME = re.compile(r"[^\W\d]\w*")
_COMPILERS, _TRACERS = ("_src/compiler.py",), ("partial_eval.py", "interpreters/mlir.py", "_src/api.py")
_RESULTS = ("_src/array.py",)
_ENGINE, _CALL = f"{os.sep}ipyparallel{os.sep}", "inside/engine_call.py"
_GUARDS = ("processes/meeting.py", "processes/guard.py", "processes/shared_report.py")


def notes_of(journal: str) -> EngineNotes:
    """What a journal tells; lines that are not whole are left out."""
    programs: list[ProgramPlace] = []
    since: float | None = None
    cell, has_failed = "", False
    for line in journal.splitlines():
        try:
            kind, when, *rest = json.loads(line)
        except ValueError:
            continue
        if kind == PROGRAM:
            programs.append(ProgramPlace(*rest))
        elif kind in (CELL, DONE):
            since = when if kind == CELL else None
            cell = os.path.basename(rest[0]) if kind == CELL else cell
            has_failed = kind == DONE and not all(rest)
    return EngineNotes(tuple(programs), since, cell, has_failed)


def whereabouts(
    process: int, stack: Sequence[StackFrame], notes: EngineNotes, names: LineNames, now: float
) -> Whereabouts:
    """Where a process is, by the stack of its main thread, the innermost call first."""
    user = next((place for place, frame in enumerate(stack) if _is_users(frame)), None)
    seconds = None if notes.busy_since is None else max(now - notes.busy_since, 0.0)
    if user is None:
        outer = _inner_activity(stack) or _outer_activity(stack, notes)
        seconds = None if outer is EngineActivity.IDLE else seconds
        return Whereabouts(process, outer, seconds=seconds, cell=notes.cell, has_failed=notes.has_failed)
    frame = stack[user]
    line = names(frame.file, frame.line)
    activity, program = _inner_activity(stack[:user]), _program(frame, notes)
    named = _named_program(line.code, dict(frame.jitted), notes) if program is None else None
    if activity in (None, EngineActivity.RESULT) and (program or named) is not None:
        is_inferred, program = named is not None, program or named
        return Whereabouts(process, EngineActivity.PROGRAM, line, program, is_inferred, seconds, cell=notes.cell)
    return Whereabouts(process, activity or EngineActivity.PYTHON, line, seconds=seconds, cell=notes.cell)


def _program(frame: StackFrame, notes: EngineNotes) -> ProgramPlace | None:
    """The program that a line was the last to compile."""
    here = (one for one in reversed(notes.programs) if (one.file, one.line) == (frame.file, frame.line))
    return next(here, None)


def _named_program(code: str, jitted: Mapping[str, str], notes: EngineNotes) -> ProgramPlace | None:
    """The last program of a function whose name a line of code has, or for which a name of it stands."""
    words = _NAME.findall(code)
    names = {_plain(name) for word in words for name in (word, jitted.get(word, "")) if name}
    return next((one for one in reversed(notes.programs) if _plain(one.name.removeprefix("jit_")) in names), None)


def _plain(name: str) -> str:
    """The name of a function, and of its program, without what only one of them has: "<lambda>" is "_lambda" there."""
    return re.sub(r"\W", "_", name).strip("_")


def _is_users(frame: StackFrame) -> bool:
    is_outside = source.is_outside(frame.file) or _ENGINE in frame.file or frame.file.startswith("<")
    return source.is_user(frame.file) and not is_outside


def _inner_activity(frames: Sequence[StackFrame]) -> EngineActivity | None:
    """What the library frames above the user's line are about."""
    kinds = (
        (EngineActivity.GUARD, _GUARDS),
        (EngineActivity.COMPILING, _COMPILERS),
        (EngineActivity.TRACING, _TRACERS),
        (EngineActivity.RESULT, _RESULTS),
    )
    for activity, files in kinds:
        if any(frame.file.endswith(files) for frame in frames):
            return activity
    return None


def _outer_activity(frames: Sequence[StackFrame], notes: EngineNotes) -> EngineActivity:
    """Of a stack without the user's lines: idle unless a cell or a call from here runs."""
    if not frames:
        return EngineActivity.UNKNOWN
    is_busy = notes.busy_since is not None or any(frame.file.endswith(_CALL) for frame in frames)
    return EngineActivity.PYTHON if is_busy else EngineActivity.IDLE
