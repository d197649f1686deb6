"""From a command line to what is printed and an exit status."""

from __future__ import annotations

import atexit
import contextlib
import io
import os
import sys
import threading
from argparse import Namespace
from collections.abc import Callable, Sequence

from jaxstage_ext.command import command_wording as wording
from jaxstage_ext.command.command_error import CommandError
from jaxstage_ext.command.command_parser import parsed
from jaxstage_ext.report.text.terminal import clean

MISTAKE, INTERRUPTED = 2, 130


def main(arguments: Sequence[str]) -> int:
    """Run a command: its result on stdout, all else on stderr. 0, what the command says, or 2 for a mistake."""
    before = set(threading.enumerate())
    try:
        options = parsed(arguments)
        with contextlib.redirect_stdout(_Beside()):  # what the user's file prints is no part of the result
            text, status = _command(options)
        print(_printable(text), flush=True)
    except CommandError as mistake:
        print(f"\njaxstage: {clean(str(mistake))}", file=sys.stderr)
        status = MISTAKE
    except KeyboardInterrupt:
        print(f"jaxstage: {wording.INTERRUPTED}", file=sys.stderr)
        status = INTERRUPTED
    _end_with_threads(before, status)
    return status


class _Beside(io.TextIOBase):
    """Writes to stderr, which stays open where the user's file closes its stdout."""

    def write(self, text: str) -> int:
        return sys.stderr.write(text)

    def flush(self) -> None:
        sys.stderr.flush()

    def fileno(self) -> int:
        return sys.stderr.fileno()

    def isatty(self) -> bool:
        return sys.stderr.isatty()

    def close(self) -> None:
        self.flush()


def _command(options: Namespace) -> tuple[str, int]:
    from jaxstage_ext.command.findings_command import findings_command
    from jaxstage_ext.command.saved_commands import compare_command, open_command

    commands: dict[str, Callable[[Namespace], tuple[str, int]]] = {
        "findings": findings_command,
        "open": open_command,
        "compare": compare_command,
    }
    return commands[options.command](options)


def _printable(text: str) -> str:
    """The text as a terminal takes it: line ends stay, names move nothing about."""
    return "\n".join(clean(line) for line in text.split("\n"))


def _end_with_threads(before: set[threading.Thread], status: int) -> None:
    """End at once where the user's file left threads that would keep the process alive."""
    left = [one for one in threading.enumerate() if one not in before and not one.daemon and one.is_alive()]
    left = [one for one in left if not (one.__class__.__module__ or "").startswith("concurrent")]
    if not left:
        return
    print(f"jaxstage: {clean(wording.threads_left([one.name for one in left]))}", file=sys.stderr, flush=True)
    atexit._run_exitfuncs()  # workers end, temporary folders go
    os._exit(status)
