"""What an engine notes for the kernel to read when it does not answer: cells that run, programs that span processes.

A line of JSON each: [CELL, time, file name], [DONE, time, success], [PROGRAM, time, name, file, line, processes].
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
from typing import IO, Any

from jaxstage_ext.ir.sources import run_cells

CELL, DONE, PROGRAM = "cell", "done", "program"
_COMPILE_EVENT = "/jax/core/compile/backend_compile_duration"


class _Journal:
    file: IO[str] | None = None


def begin(path: str) -> None:
    """Note from now on, in a file; a second call changes that."""
    former, _Journal.file = _Journal.file, open(path, "a", encoding="utf-8", buffering=1)  # noqa: SIM115 (it stays open)
    if former is not None:
        former.close()
        return
    from jax import monitoring

    monitoring.register_scalar_listener(_on_scalar)
    if (shell := _shell()) is not None:
        shell.events.register("pre_run_cell", _on_cell)
        shell.events.register("post_run_cell", _on_done)


def note(*what: Any) -> None:
    """Add a line. What cannot be written is not worth an error."""
    if _Journal.file is not None:
        with contextlib.suppress(OSError, ValueError):
            _Journal.file.write(json.dumps(what) + "\n")


def _on_cell(info: Any) -> None:
    file = _cell_file(str(getattr(info, "raw_cell", "")))
    run_cells.ran(file)
    note(CELL, time.time(), file)


def _on_done(result: Any) -> None:
    note(DONE, time.time(), bool(getattr(result, "success", True)))


def _on_scalar(event: str, value: float, **details: Any) -> None:
    """JAX tells that a compile begins."""
    if event == _COMPILE_EVENT:
        with contextlib.suppress(Exception):  # it is the user's call that compiles
            _note_program(sys._getframe(1))


def _note_program(frame: Any) -> None:
    from jaxstage_ext.compilation.events.event_place import event_place
    from jaxstage_ext.core.jax_private import compile_frames, pending_compile

    frames = compile_frames.event_frames(frame)
    if frames.is_ahead_of_time or not pending_compile.spans_processes(frames):
        return
    pending, line = pending_compile.pending_compile(frames), event_place(frames.outside).user_line
    if pending is not None:
        place = ("", 0) if line is None else (line.file, line.line)
        note(PROGRAM, time.time(), pending.name, *place, len(pending.processes))


def _cell_file(code: str) -> str:
    """The file name that the engine's IPython gives a cell."""
    shell = _shell()
    with contextlib.suppress(Exception):
        return str(shell.compile.get_code_name(code, code, 0))
    return ""


def _shell() -> Any:
    ipython = sys.modules.get("IPython")
    return None if ipython is None else ipython.get_ipython()
