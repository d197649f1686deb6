"""The last line of a magic, as a button that does the same to another cell needs it."""

from __future__ import annotations

from jaxstage_ext.notebook.lines.command_line import FROM_TOOLBAR, Command

LONGEST = 2000
_OF_ONE_CELL = (
    *("--output", "--args", "--dim", "--in-spec", "--out-spec"),
    *("--static-argnums", "--static-argnames", "--donate-argnums", "--donate-argnames", "--keep-unused"),
)
"""Options that name the functions, arguments or results of one cell."""


def last_line(line: str, asked: Command) -> dict[str, str]:
    """The line, and those of its options that make sense for any cell."""
    given = [option for option in asked.given if option.name != FROM_TOOLBAR]
    options = " ".join(option.text for option in given if option.name not in _OF_ONE_CELL)
    typed = line.replace(FROM_TOOLBAR, "", 1) if len(given) < len(asked.given) else line
    return {"line": typed.strip()[:LONGEST], "options": options if len(options) <= LONGEST else ""}
