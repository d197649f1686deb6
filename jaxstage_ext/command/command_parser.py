"""What `python -m jaxstage_ext` takes. JAX is not imported for it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from jaxstage_ext.command import command_wording as wording
from jaxstage_ext.command.command_error import CommandError


class CommandParser(argparse.ArgumentParser):
    """One that raises CommandError in place of ending the process."""

    def error(self, message: str) -> None:  # type: ignore[override]
        raise CommandError(f"{message}; {self.prog} --help says what there is")


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """The options of a command line; what stands behind `--` is `arguments`. Raises CommandError."""
    own, rest = list(arguments), list[str]()
    if "--" in own:
        at = own.index("--")
        own, rest = own[:at], own[at + 1 :]
    options = _parser().parse_args(own)
    options.arguments = rest
    return options


def _parser() -> CommandParser:
    parser = CommandParser(prog=wording.PROGRAM, description=wording.ABOUT)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _findings(commands.add_parser("findings", help=wording.FINDINGS, description=wording.FINDINGS_MORE))
    opened = commands.add_parser("open", help=wording.OPEN, description=wording.OPEN)
    opened.add_argument("file", metavar="FILE", help=wording.SAVED)
    opened.add_argument("-t", "--target", action="append", help=wording.TARGET)
    opened.add_argument("--html", metavar="PAGE", help=wording.HTML)
    opened.add_argument("--json", action="store_true", help=wording.JSON)
    compared = commands.add_parser("compare", help=wording.COMPARE, description=wording.COMPARE)
    compared.add_argument("before", metavar="A", help=wording.SAVED)
    compared.add_argument("after", metavar="B", help=wording.SAVED)
    compared.add_argument("--json", action="store_true", help=wording.JSON)
    return parser


def _findings(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE.py", help=wording.FILE)
    parser.add_argument("call", metavar="CALL", help=wording.CALL)
    parser.add_argument("-t", "--target", help=wording.TARGET)
    parser.add_argument("--mesh", help=wording.MESH)
    parser.add_argument("--in-spec", metavar="SPECS", help=wording.SPECS)
    parser.add_argument("--all", action="store_true", help=wording.EVERYTHING)
    parser.add_argument("--fail-on", metavar="WHAT", help=wording.FAIL_ON)
    parser.add_argument("--json", action="store_true", help=wording.JSON)
