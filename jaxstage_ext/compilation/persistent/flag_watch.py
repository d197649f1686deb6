"""XLA_FLAGS that change in a running kernel: XLA has read them, the cache's key reads them at each compile.

Its warnings are placed at the user's line, and never raise into a compile.
"""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from types import FrameType

import jax

from jaxstage_ext.core.jax_private import flag_bytes, jax_options

Flags = tuple[bytes, ...]


class _Flags:
    """The flags that XLA has read, as far as that was seen, and those that were warned of."""

    def __init__(self) -> None:
        self.read: Flags | None = None
        self.reported: set[Flags] = set()


_flags = _Flags()


def note() -> Flags:
    """The flags in the key of a compile now; the first that are seen after JAX made its backend are those XLA read."""
    now = flag_bytes.flag_bytes()
    if _flags.read is None and jax_options.backends_exist():
        _flags.read = now
    return now


def have_changed(now: Flags) -> bool:
    """Whether these are other flags than XLA has read."""
    return _flags.read is not None and now != _flags.read


def warn_of(now: Flags, writes: bool) -> None:
    """Warn, once for each set of flags, that they do not take effect; `writes`: entries are written under them."""
    if _flags.read is None or now in _flags.reported:
        return
    _flags.reported.add(now)
    warn(sentence(changes(_flags.read, now), writes))


def changes(read: Flags, now: Flags) -> list[tuple[str, str, str]]:
    """(name, value that XLA read, value now) of each flag that differs; "" where it was not set."""
    before, after = _by_name(read), _by_name(now)
    names = sorted(before.keys() | after.keys())
    return [(name, before.get(name, ""), after.get(name, "")) for name in names if before.get(name) != after.get(name)]


def _by_name(flags: Flags) -> dict[str, str]:
    """The last of several values of one flag counts; a flag alone is true."""
    pairs = (flag.decode("utf-8", "replace").partition("=") for flag in flags)
    return {name: value if equals else "true" for name, equals, value in pairs}


def sentence(changed: list[tuple[str, str, str]], writes: bool) -> str:
    """What changed and what that means, in one line."""
    words = ", ".join(f"{name} {_change(before, now)}" for name, before, now in changed)
    entries = " Entries written now are wrong for a later process that starts with these flags." if writes else ""
    return (
        f"XLA's flags changed in this kernel: {words}. XLA read its flags when JAX started, so programs compile as "
        f"before, while the persistent cache looks for other entries.{entries} Restart the kernel to compile with them."
    )


def _change(before: str, now: str) -> str:
    if not before:
        return f"is now {now}"
    return f"was {before}, is now {now}" if now else f"(was {before}) is gone"


class PersistentCacheWarning(UserWarning):
    """Something is wrong with JAX's persistent compilation cache."""


_OURS = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_LIBRARIES = (_OURS + os.sep, os.path.dirname(jax.__file__) + os.sep)


def warn(text: str) -> None:
    """Warn at the innermost line outside JAX and JAXStage."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_LIBRARIES):
        frame = frame.f_back
    file, line = (frame.f_code.co_filename, frame.f_lineno) if frame else ("<unknown>", 1)
    with contextlib.suppress(PersistentCacheWarning):  # warnings that are errors are not raised inside a compile
        warnings.warn_explicit(text, PersistentCacheWarning, file, line)
