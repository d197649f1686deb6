"""The options of `%%shard`."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError

from jaxstage_ext.core.stage.lower_stage import DEFINITION as LOWER_STAGE
from jaxstage_ext.notebook.lines.command_line import MagicLine, Option, identifier, listed
from jaxstage_ext.notebook.lines.stage_line import stage_line

NAME = "shard"
_LEFT_OUT = ("-o", "--run", "--vs", "--mesh", "--in-spec", "--out-spec", "--processes")
_TIME = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|min|m|h|)")
_UNITS = {"ms": 1e-3, "min": 60.0, "m": 60.0, "h": 3600.0}
_HELP = """Find the sharding that a call should have on a target, which need not be in this machine.

    %%shard -t v5e:2x4
    step(params, opt, batch)

    %shard -t h100:8 --budget 2min step(params, opt, batch)
    %shard -t v5e:2x4 --mesh "data=4,model=2" --keep "batch: P('data')" step(params, opt, batch)
    layouts = %shard -t v5e:4x4 step(params, opt, batch)

Every layout over the named dimensions of the program (%dimensions) is estimated by Shardy's own propagation, without a
compile and without devices, or the best of each axis together where there are too many. The best of each kind (data
parallel, FSDP, tensor, expert, ...) are compiled at low effort. While the budget lasts, the best one is then compiled
without each of its decisions too: "saves 18 ms as compiled" is the difference of these two compiles, and "saves an
estimated 18 ms" is computed from the collectives and the work of each device, without a compile. Interrupting keeps
what was found, and the same search goes on from there. Arguments are given as for %lower. The value of `layouts` has
.layouts, .best, .sentences(), .code("in_specs") and .open()."""


def _seconds(text: str) -> float:
    match = _TIME.fullmatch(text.strip())
    if match is None:
        raise ArgumentTypeError(f"{text!r} is not a time such as 60s or 2min")
    if not float(match[1]):
        raise ArgumentTypeError(f"in {text!r} nothing is found; give a time such as 60s or 2min")
    return float(match[1]) * _UNITS.get(match[2], 1.0)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) > 100:
        raise ArgumentTypeError(f"{text!r} is not a number from 0 to 100")
    return int(text)


def _effort(text: str) -> str:
    if text not in ("low", "default"):
        raise ArgumentTypeError(f"{text!r} is not an effort; give low or default")
    return text


def _axes(text: str) -> int:
    if text not in ("1", "2", "3"):
        raise ArgumentTypeError(f"{text!r} is not a number of mesh axes from 1 to 3")
    return int(text)


_OPTIONS = (
    Option("-o --output", "Bind the search to NAME; a tuple of them for several calls.", "NAME", identifier),
    Option(
        "--mesh",
        "Mesh of all layouts; without it the search chooses. With --in-spec it is that of your own layout alone.",
        "data=4,model=2",
    ),
    Option("--in-spec", "Your own layout on --mesh, to be compared, as of %%compile.", "SPECS", adds=True),
    Option(
        "--keep",
        "PartitionSpecs that an argument keeps in all layouts: --keep \"x: P('data')\"; may be repeated.",
        "SPECS",
        listed,
        adds=True,
    ),
    Option(
        "--budget", "Time for the search, without --confirm's compiles; 60s by default.", "60s", _seconds, default=60.0
    ),
    Option("--confirm", "How many layouts of different kinds to compile; 3 by default.", "3", _count, default=3),
    Option(
        "--effort",
        "low tells whether layouts compile and fit; default also ranks them by compiled times, which takes longer.",
        "low",
        _effort,
        default="low",
    ),
    Option("--axes", "Most axes of a mesh, from 1 to 3; 3 by default.", "3", _axes, default=3),
    Option("--no-replication", "Only layouts that use every axis of their mesh."),
    Option("--seed", "Decides the order in which layouts are tried; 0 by default.", "0", _count, default=0),
    Option("--run", ""),
    Option("--out-spec", "", "SPECS"),
)


def shard_line() -> MagicLine:
    """The line of the magic."""
    given = [one for one in stage_line(LOWER_STAGE).options if not set(one.flags) & set(_LEFT_OUT)]
    return MagicLine(NAME, "[options] function(arguments)", _HELP, (*_OPTIONS, *given))
