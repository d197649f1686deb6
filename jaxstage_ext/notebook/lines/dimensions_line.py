"""The line of `%dimensions`: that of `%lower`, and names for dimensions."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Sequence
from dataclasses import replace

from jaxstage_ext.core.stage import stage_list
from jaxstage_ext.core.stage.stage_definition import LOWER
from jaxstage_ext.notebook.lines.command_line import MagicLine, Option
from jaxstage_ext.notebook.lines.line_help import DIMENSIONS
from jaxstage_ext.notebook.lines.stage_line import stage_line

NAME = "dimensions"
_NOT_LISTED = ("--run", "--vs", "--processes")
"""What makes no sense here; a line that has it is refused, or it changes nothing."""


def name_pairs(text: str) -> list[tuple[str, str]]:
    """The pairs of `--name d3=hidden,d4=heads`. Raises ArgumentTypeError."""
    pairs = []
    for part in text.split(","):
        old, equals, new = (piece.strip() for piece in part.partition("="))
        if not (old and equals and new):
            raise ArgumentTypeError(f"{part.strip()!r} is not a name such as d3=hidden")
        pairs.append((old, new))
    return pairs


def _options() -> Sequence[Option]:
    lower = next(stage for stage in stage_list.STAGES if stage.name == LOWER)
    own = [
        replace(option, help="") if option.flags[-1] in _NOT_LISTED else option for option in stage_line(lower).options
    ]
    name = Option(
        "-n --name",
        "Your name for a dimension, by its name or number; may be repeated.",
        "d3=hidden",
        name_pairs,
        adds=True,
    )
    return (name, *own)


def dimensions_line() -> MagicLine:
    """What the line of `%dimensions` may hold."""
    return MagicLine(NAME, "[options] function(arguments)", DIMENSIONS, tuple(_options()))
