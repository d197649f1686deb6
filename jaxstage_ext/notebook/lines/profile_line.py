"""The options of `%%profile`."""

from __future__ import annotations

from argparse import ArgumentTypeError, Namespace
from typing import NoReturn

from IPython.core.error import UsageError

from jaxstage_ext.notebook.lines.command_line import QUIET, TOOLBAR, MagicLine, Option, identifier

NAME = "profile"
_OF_CAPTURES = ("warm", "cold", "python", "no_sampling", "command_buffers", "sm_clock")
MODES = ("auto", "kernels", "span", "wall")
_HELP = """Run a call under the profiler, in memory, and show its timeline, linked to source lines.

What is profiled is the call on the magic's line, or else the cell's last statement: a call, an assignment, a loop; with
the statement before it where it only waits for results or prints them. It runs as written; everything else in the cell
takes effect before it, unprofiled.

    %%profile
    params, loss = step(params, batch)

    %profile -n 10 step(params, batch)
    %profile train(params, batches)
    p = %profile step(params, batch)
    %profile --measure step(params, batch)

A call of a jitted function is compiled first and then run once unprofiled, unless it donates arguments or has side
effects; it has all the other tabs too. Anything else runs once only, and JAX's compiles in it are shown: --warm runs it
once before. The value is the cell's, as without the magic; end with `;` to keep it quiet."""


def check(options: Namespace) -> None:
    """Raise UsageError for options that contradict each other."""
    if options.warm and options.cold:
        raise UsageError("--warm and --cold exclude each other; drop one of them")
    measuring = {"--mode": options.mode, "--per-kernel": options.per_kernel, "--runs": options.runs}
    given = [name for name, value in (measuring | {"--setup": options.setup}).items() if value]
    if given and not options.measure:
        raise UsageError(f"{given[0]} is for --measure; add that, or drop {given[0]}")
    profiling = {"--steps": options.steps > 1, "--save": options.save, "--limit": options.limit}
    profiling |= {f"--{name.replace('_', '-')}": getattr(options, name) for name in _OF_CAPTURES}
    if options.measure and (given := [name for name, value in profiling.items() if value]):
        raise UsageError(f"{given[0]} is for a timeline, and --measure makes none; drop one of them")


def _count(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) <= 100_000_000:
        raise ArgumentTypeError(f"{text!r} is not a number from 1 to 100,000,000")
    return int(text)


def _mode(text: str) -> str:
    from jaxstage_ext.profiling.timing.jax_words import MODES as JAX_MODES

    if text in JAX_MODES:
        raise ArgumentTypeError(JAX_MODES[text])
    if text not in MODES:
        raise ArgumentTypeError(f"{text!r} is unknown; give {', '.join(MODES)}")
    return text


def _hertz(text: str) -> float:
    try:
        clock = float(text)
    except ValueError:
        clock = 0.0
    if not 1e6 <= clock <= 1e11:
        raise ArgumentTypeError(f"{text!r} is not a clock in hertz, such as 1.98e9 for 1.98 GHz")
    return clock


def _off(text: str) -> str:
    if text != "off":
        raise ArgumentTypeError(f"{text!r} is not off, the only value; leave the option out to have them")
    return text


def _no_target(text: str) -> NoReturn:
    raise UsageError(
        f"a profile is of a run on this machine's devices, and {text!r} is not run; drop -t, "
        f"or compile for it with %compile -t {text}"
    )


LINE = MagicLine(
    NAME,
    "[options] [call]",
    _HELP,
    (
        Option("-o --output", "Bind the Inspection to NAME; `.timeline` is in it.", "NAME", identifier),
        Option("-n --steps", "Number of runs, each shown as a step.", "10", _count, default=1),
        Option("--warm", "Run once before, unprofiled, whatever is profiled."),
        Option("--cold", "Profile the first run, compiles included."),
        Option("--python", "Trace every Python call as well, which slows Python down."),
        Option("--no-sampling", "Do not sample the line that Python is at, each millisecond."),
        Option("--limit", "The most events to keep.", "1000000", _count),
        Option(
            "--command-buffers",
            "Compile without command buffers (CUDA graphs), whose kernels have no names; this changes the timing.",
            "off",
            _off,
        ),
        Option(
            "--sm-clock",
            "Clock of the GPU's SMs in hertz, for Pallas kernels that record on the device; its maximum by default.",
            "1.98e9",
            _hertz,
        ),
        Option("--save", "Write the profile to a file in FOLDER, which XProf reads too.", "FOLDER"),
        Option(
            "--measure",
            "Measure how long the call takes, without a timeline. It runs many times, with its side effects.",
        ),
        Option("--mode", "What to measure; kernel times, their span or wall time.", "{" + ",".join(MODES) + "}", _mode),
        Option("--per-kernel", "List the time of each kernel, with --measure."),
        Option("--runs", "Number of runs to measure; as many as needed by default.", "100", _count),
        Option(
            "--setup",
            'Code before every run, not timed, which makes donated arguments: --setup "state = init()".',
            "CODE",
        ),
        QUIET,
        TOOLBAR,
        Option("-t --target", "", "TARGET", _no_target),
    ),
)
"""The line of the magic."""
