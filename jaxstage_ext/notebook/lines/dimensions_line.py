"""The line of `%dimensions`: that of `%lower`, and names for dimensions."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Sequence

from jaxstage_ext.core.stage import stage_list
from jaxstage_ext.core.stage.stage_definition import LOWER
from jaxstage_ext.notebook.lines.command_line import MagicLine, Option
from jaxstage_ext.notebook.lines.line_help import DIMENSIONS
from jaxstage_ext.notebook.lines.stage_line import stage_line

NAME = "dimensions"
_LEFT_OUT = ("--run", "--vs", "--from-toolbar")


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
    kept = [option for option in stage_line(lower).options if option.flags[-1] not in _LEFT_OUT]
    name = Option(
        "-n --name",
        "Your name for a dimension, by its name or number; may be repeated.",
        "d3=hidden",
        name_pairs,
        adds=True,
    )
    return (name, *kept)


def dimensions_line() -> MagicLine:
    """What the line of `%dimensions` may hold."""
    return MagicLine(NAME, "[options] function(arguments)", DIMENSIONS, tuple(_options()))
