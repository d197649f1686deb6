"""What `%processes` takes: a command, with its number, name or word."""

from __future__ import annotations

from dataclasses import dataclass

from IPython.core.error import UsageError

from jaxstage_ext.notebook.lines.line_help import PROCESSES_COMMANDS as COMMANDS
from jaxstage_ext.notebook.lines.line_help import PROCESSES_OPTIONS as OPTIONS
from jaxstage_ext.notebook.lines.line_help import PROCESSES_WITH_OPTIONS as WITH_OPTIONS

_LONGEST_WORD = 60
_MOST = {"--devices": 64, "--timeout": 3600}
_MOST_PROCESSES = 64
_WHAT = {
    "start": "how many processes, such as %processes start 2",
    "use": "the name of an ipyparallel.Client, such as %processes use rc",
    "end": "the index of a process, such as %processes end 1",
    "guard": "on or off: %processes guard on",
}
"""What the commands take that take a word."""


@dataclass(frozen=True)
class ProcessesLine:
    """A line of `%processes`.

    Attributes:
      command: one of COMMANDS.   word: what it was given, such as the name of a client; "" for none.
      number: the word as a number, where the command takes one.
      devices: how many each process has.   timeout: seconds that a start may take.
    """

    command: str
    word: str = ""
    number: int = 0
    devices: int = 0
    timeout: float = 60.0


def parsed(line: str) -> ProcessesLine:
    """The line as data. Raises UsageError."""
    command, *words = line.split() or ["status"]
    if command not in COMMANDS:
        raise UsageError(f"%processes does not take {_shown(command)}; it takes {', '.join(COMMANDS)}")
    options, words = _options(command, words)
    if command not in _WHAT and words:
        raise UsageError(f"%processes {command} does not take {_shown(words[0])}")
    if command in _WHAT and len(words) != 1:
        raise UsageError(f"%processes {command} takes {_WHAT[command]}")
    word = words[0] if words else ""
    if command == "guard" and word not in ("on", "off"):
        raise UsageError(f"%processes guard takes {_WHAT[command]}, not {_shown(word)}")
    return ProcessesLine(command, word, _number_of(command, word), **options)


def _options(command: str, words: list[str]) -> tuple[dict[str, int], list[str]]:
    """The options as arguments of ProcessesLine, and the other words."""
    given, rest = dict[str, int](), list[str]()
    waiting = list(words)
    while waiting:
        word, equals, value = waiting.pop(0).partition("=")
        if not word.startswith("-"):
            rest.append(word + equals + value)
            continue
        if word not in OPTIONS or command not in WITH_OPTIONS:
            raise UsageError(f"%processes {command} has no option {_shown(word)}; start has {' and '.join(OPTIONS)}")
        text = value if equals else waiting.pop(0) if waiting else ""
        given[word.lstrip("-")] = _whole(text, word, 1, _MOST[word])
    return given, rest


def _number_of(command: str, word: str) -> int:
    if command == "start":
        return _whole(word, "%processes start", 2, _MOST_PROCESSES)
    return _whole(word, "%processes end", 0, _MOST_PROCESSES) if command == "end" else 0


def _whole(text: str, what: str, least: int, most: int) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 6 and least <= int(text) <= most):
        raise UsageError(f"{what} takes a whole number from {least} to {most}, not {_shown(text)}")
    return int(text)


def _shown(word: str) -> str:
    return repr(word[:_LONGEST_WORD].encode("utf-8", "backslashreplace").decode())
