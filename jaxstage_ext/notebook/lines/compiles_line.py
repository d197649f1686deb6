"""The options of `%compiles` and `%%compiles`."""

from __future__ import annotations

import re
import sys
from argparse import ArgumentTypeError, Namespace

from IPython.core.error import UsageError

from jaxstage_ext.notebook.lines.command_line import Command, MagicLine, Option

NAME = "compiles"
ALL = "all"
CAN_COUNT = sys.version_info >= (3, 12)
_UNITS = {"": 1.0, "s": 1.0, "ms": 1e-3, "min": 60.0}
_DURATION = re.compile(r"(\d{1,9}(?:\.\d{0,9})?)\s?(|ms|s|min)")
_OF_CELL = ("expect", "count")
_OF_LINE = ("cell", "function", "json", "processes")
_NOT_OF_PROCESSES = ("cell", "function", "over")
_HELP = """Show what JAX traced, lowered and compiled, and why: one row for each call that its fast path did not serve.

    %compiles                   the newest cell that compiled a function
    %compiles all               everything since the extension was loaded
    %compiles --cell 12
    %compiles --function step
    %compiles --over 1s         what took a second or longer
    %compiles --processes       what all processes of a job compiled, in which order, and who waited for whom
    h = %compiles all           the history: h.table(), h.by_function(), h.recompiles(), h.to_pandas(), ...

    %%compiles                  run the cell, then show what it compiled
    %%compiles --expect 0       run the cell, and fail if it compiles anything; in tests: jaxstage_ext.expect_compiles
    %%compiles --count          run the cell, and count its calls of each jitted function, cache hits included

Each row has the cell and line, the types of the call, the time of each stage without what was compiled during it, the
caches that served a part of it, and why: how it differs from the nearest earlier compile of the same function. Eager
operations, such as `jnp.ones(3)`, share a row for each line. JAXStage's own work is marked.

--count counts the calls that code of the notebook's cells makes, also in functions of earlier cells; calls that `map`,
a library or a callback makes are not counted. A function with effects, such as jax.debug.print, never takes the fast
path, and its row says so.

What cannot be known: how often a function was called on the fast path (but see --count); why JAX evicted a cached
function, whether by its size limit or by jax.clear_caches(); a change inside a captured object or array; the time of a
call that leaves the fast path without any stage; what processes compiled that are not of a job of this kernel's
(%processes). JAX does not recompile when a global
variable changes that the function reads: the result is stale, and a note says so where the variable was a number or
another simple value when the function was traced.

A line below a cell says so where a function recompiled for more than one second in it, for a reason that can be
avoided; `%config JAXStage.compile_notice = False` turns that line off. `%config JAXStage.compile_log = False` turns the
log off."""


def check_line(asked: Command) -> None:
    """Raise UsageError for what only `%%compiles` takes."""
    _check_words(asked, (ALL,))
    if given := _given(asked.options, _OF_CELL):
        raise UsageError(f"{given} is for %%compiles above a cell; %compiles shows what has been compiled")
    if asked.options.processes and (given := _given(asked.options, _NOT_OF_PROCESSES)):
        raise UsageError(f"{given} does not go with --processes, which shows all that the processes compiled")


def check_cell(asked: Command) -> None:
    """Raise UsageError for what only `%compiles` takes, and for counts that this Python cannot make."""
    _check_words(asked, ())
    if given := _given(asked.options, _OF_LINE):
        raise UsageError(f"{given} is for %compiles on a line of its own; %%compiles shows its own cell")
    if asked.options.count and not CAN_COUNT:
        version = f"{sys.version_info[0]}.{sys.version_info[1]}"
        raise UsageError(f"--count needs Python 3.12 or newer, whose sys.monitoring counts calls; this is {version}")


def _check_words(asked: Command, known: tuple[str, ...]) -> None:
    for word in asked.code.split():
        if word not in known:
            hint = f"did you mean --function {word}?" if known and word.isidentifier() else "it has options alone"
            raise UsageError(f"%{'' if known else '%'}{NAME} does not take {word!r}; {hint}")


def _given(options: Namespace, names: tuple[str, ...]) -> str:
    given = {name: getattr(options, name) for name in names}
    return next((f"--{name}" for name, value in given.items() if value is not None and value is not False), "")


def _count(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise ArgumentTypeError(f"{text!r} is not a whole number such as 12")
    return int(text)


def _seconds(text: str) -> float:
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        raise ArgumentTypeError(f"{text!r} is not a duration such as 1s, 200ms or 2min")
    return float(match[1]) * _UNITS[match[2]]


LINE = MagicLine(
    NAME,
    "[all] [options]",
    _HELP,
    (
        Option("--cell", "Only the cell with this execution count.", "12", _count),
        Option("--function", "Only functions of this name: step, Model.step.", "step"),
        Option("--over", "Only what took at least so long: 1s, 200ms, 2min.", "1s", _seconds),
        Option("--processes", "What all processes of the job that %%processes started have compiled."),
        Option("--eager", "Show each eager operation in a row of its own; with --expect, count them."),
        Option("--json", "Write the table to FILE as JSON instead of showing it.", "FILE"),
        Option("--expect", "Of %%%%compiles: fail if the cell compiles more often than this.", "0", _count),
        Option("--count", "Of %%%%compiles: count the calls of jitted functions (Python 3.12+)."),
    ),
)
"""The line of the magic."""
