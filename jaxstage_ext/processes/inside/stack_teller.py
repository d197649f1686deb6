"""Tells where the main thread is to whoever writes into a pipe, from a thread of its own.

The lock of the interpreter is free while a program waits for other processes. `faulthandler` would need no thread, but
reads the stacks of all threads without that lock while some come and go: measured on Python 3.11 and 3.13, that ended a
process by SIGSEGV within ten signals.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from types import FrameType
from typing import IO

JITTED = "jitted"
"""What begins a line, below its frame, that says which function a name of it stands for."""
UNREADY = "Arrays that are not computed yet:"
"""What begins the line behind the frames."""
_JITTED_TYPES = ("PjitFunction", "_JitWrapper")
"""Of `jax.jit` and of `equinox.filter_jit`."""
_LIBRARIES = f"{os.sep}site-packages{os.sep}"
PIPE = ".ask"
"""What the pipe's path has behind that of the file."""
_MOST_FRAMES = 500


def begin(path: str) -> None:
    """Append the main thread's stack to a file, in `faulthandler`'s form, for each byte in the pipe beside it."""
    os.mkfifo(path + PIPE, 0o600)
    asked = os.open(path + PIPE, os.O_RDWR | os.O_CLOEXEC)  # for writing too: so it does not end with who asks
    file = open(path, "ab", buffering=0)  # noqa: SIM115 (it stays open)
    threading.Thread(target=_tell, args=(asked, file), name="jaxstage-stacks", daemon=True).start()


def _tell(asked: int, file: IO[bytes]) -> None:
    main = threading.main_thread().ident
    assert main is not None
    while os.read(asked, 1):
        frames = _frames(sys._current_frames().get(main))
        lines = [f"Thread 0x{main:016x} (most recent call first):", *frames, f"{UNREADY} {_unready()}", "", ""]
        file.write("\n".join(lines).encode("utf-8", "replace"))


def _frames(frame: FrameType | None) -> list[str]:
    found: list[str] = []
    while frame is not None and len(found) < _MOST_FRAMES:
        code = frame.f_code
        found.append(f'  File "{code.co_filename}", line {frame.f_lineno or "???"} in {code.co_name}')
        found += [f"    {JITTED} {name} = {function}" for name, function in _jitted(frame).items()]
        frame = frame.f_back
    return found


def _jitted(frame: FrameType) -> dict[str, str]:
    """The names of a frame of the user's that stand for jitted functions, each with the function's own name."""
    code = frame.f_code
    if _LIBRARIES in code.co_filename or code.co_filename.startswith("<"):
        return {}
    local = frame.f_locals
    values = {name: local.get(name, frame.f_globals.get(name)) for name in {*code.co_names, *code.co_varnames}}
    return {
        name: str(getattr(value, "__name__", ""))
        for name, value in values.items()
        if type(value).__name__ in _JITTED_TYPES
    }


def _unready() -> int:
    """How many arrays of this process are still computed: Python may be idle while its programs wait for others."""
    jax = sys.modules.get("jax")
    count = 0
    with contextlib.suppress(Exception):  # deleted meanwhile
        for array in jax.live_arrays() if jax is not None else ():
            count += not (array.is_deleted() or array.is_ready())
    return count
