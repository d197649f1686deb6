"""How a process of a job came to an executable of several processes."""

from __future__ import annotations

import enum


class Sharing(enum.Enum):
    """How a process of a job came to an executable of several processes, or why none is shared."""

    COMPILED = "compiled"
    """It compiled the program, and others may read it where all that decides the compile is the same."""
    READ = "read"
    """Another process compiled it."""
    OWN_DEVICES = "own devices"
    """The program runs on devices of one process, which are others in each."""
    NO_FOLDER = "no folder"
    """The process does not see the job's folder, as on another host."""
    PLATFORM = "platform"
    """Executables of its platform are not shared."""
    PERSISTENT = "persistent"
    """JAX's persistent cache is on, which each process asks, and which the first alone writes."""
    PYTHON = "python"
    """The program calls back into Python."""
    CONSTANTS = "constants"
    """The program holds large arrays: to compare them takes as long as to compile."""
    OPTIONS = "options"
    """Dumps, profiles or files are asked for, or the cache is off: each process does all of it."""
    UNSHARED = "unshared"
    """XLA does not give the executable as bytes, or there is no room for them."""
