"""A magic's own line: options anywhere, and what is left as Python."""

from __future__ import annotations

import ast
import difflib
import keyword
import re
from argparse import SUPPRESS, ArgumentTypeError, Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from IPython.core.error import UsageError
from IPython.core.magic_arguments import MagicArgumentParser

FROM_TOOLBAR = "--from-toolbar"
"""Of a magic's line that a button has put above the cell's text: it is not part of that text."""
_OPTION = re.compile(r"--?[A-Za-z][\w-]*")
_OPENING, _CLOSING = "([{", ")]}"


def _every(magic: str) -> bool:
    return True


@dataclass(frozen=True)
class Option:
    """An option of a magic's line; parsing, help and completion follow from it.

    Attributes:
      spelling: how it is written, with a space between its flags; the last one is its full name.
      help: as argparse takes it; "" for an option that is nowhere listed.
      metavar: an example of its value; "" for a switch, which has none.
      type: what makes a value of the text. Raises ArgumentTypeError.
      adds: whether several of it add up: lists one after the other, texts with a comma between them.
      when: whether the magic of a stage has it.
      may_have: what may follow a switch as its value; None where nothing may.
    """

    spelling: str
    help: str
    metavar: str = ""
    type: Callable[[str], Any] = str
    adds: bool = False
    default: Any = None
    when: Callable[[str], bool] = _every
    may_have: re.Pattern[str] | None = None

    @property
    def flags(self) -> list[str]:
        """The ways to write it."""
        return self.spelling.split()

    @property
    def name(self) -> str:
        """Its name among the parsed options."""
        return self.flags[-1].lstrip("-").replace("-", "_")

    def joined(self, earlier: Any, text: str) -> Any:
        """Its value after one more of it. Raises UsageError for what is not a value."""
        try:
            value = self.type(text) if self.metavar or self.may_have is not None else True
        except ArgumentTypeError as error:
            raise UsageError(f"{'/'.join(self.flags)}: {error}") from None
        if not self.adds or earlier is None:
            return value
        return earlier + value if isinstance(value, list) else f"{earlier}, {value}"


@dataclass(frozen=True)
class MagicLine:
    """What the line of a magic may hold."""

    name: str
    usage: str
    text: str
    options: tuple[Option, ...]

    @property
    def flags(self) -> dict[str, Option]:
        """The options that are listed, by how they are written."""
        return {flag: option for option in self.options if option.help for flag in option.flags}

    def help(self) -> str:
        """The magic's docstring."""
        parser = MagicArgumentParser(prog=self.name, usage=f"{self.name} {self.usage}", description=self.text)  # type: ignore[no-untyped-call]
        for option in self.options:
            how: Any = {"metavar": option.metavar} if option.metavar else {"action": "store_true"}
            if option.may_have is not None:
                how = {"nargs": "?", "metavar": "K,L"}
            parser.add_argument(*option.flags, help=option.help or SUPPRESS, **how)
        return parser.format_help()


class GivenOption(NamedTuple):
    """An option as it stands on a line, by its full name."""

    name: str
    text: str


class Command(NamedTuple):
    """A parsed line. `code` is the line with its options blanked out, so that columns stay; `given` are these."""

    options: Namespace
    code: str
    given: tuple[GivenOption, ...] = ()


TOOLBAR = Option(FROM_TOOLBAR, "")
QUIET = Option("-q --quiet", "Show no panel; useful with --output.")


def listed(text: str) -> list[str]:
    """The value of an option of which there may be several."""
    return [text]


def identifier(text: str) -> str:
    """A Python name, as an option's value. Raises ArgumentTypeError for anything else."""
    if not text.isidentifier() or keyword.iskeyword(text):
        raise ArgumentTypeError(f"{text!r} is not a valid Python name")
    return text


def parse(line: str, of: MagicLine) -> Command:
    """Read the options out of a line. They may stand anywhere outside brackets and strings. Raises UsageError."""
    flags = {flag: option for option in of.options for flag in option.flags}
    values: list[tuple[Option, str]] = []
    given: list[GivenOption] = []
    code, at, depth = line, 0, 0
    while at < len(line):
        char = line[at]
        if char == "#":
            code = code[:at]
            break
        if char in "\"'":
            at = _string_end(line, at)
            continue
        depth += (char in _OPENING) - (char in _CLOSING)
        if char == "-" and depth == 0 and line[at - 1 : at].strip() == "" and _OPTION.match(line, at):
            option, value, end = _option(line, at, flags)
            values.append((option, value))
            given.append(GivenOption(option.flags[-1], line[at:end].strip()))
            code = code[:at] + " " * (end - at) + code[end:]
            at = end
        else:
            at += 1
    options = {option.name: option.default if option.metavar else False for option in of.options}
    for option, value in values:
        options[option.name] = option.joined(options[option.name], value)
    return Command(Namespace(**options), code, tuple(given))


def expressions(code: str) -> list[ast.expr]:
    """The calls and functions that a line names, with the columns of the line. Raises UsageError with a caret."""
    text = code.strip()
    try:
        body = ast.parse(text).body
    except SyntaxError as error:
        caret = " " * max((error.offset or 1) - 1, 0) + "^"
        raise UsageError(f"cannot parse what to stage: {error.msg}:\n  {text}\n  {caret}") from None
    shift = len(code.encode()) - len(code.lstrip().encode())
    for node in body:
        if not isinstance(node, ast.Expr):
            raise UsageError(f"'{ast.unparse(node)}' is not a call; {_call_in(node)}")
    return [moved(node.value, 0, shift) for node in body if isinstance(node, ast.Expr)]


def _call_in(node: ast.stmt) -> str:
    """What to name in place of a statement: the call whose result it assigns, or an example."""
    value = node.value if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign) else None
    if isinstance(value, ast.Call):
        return f"name the call alone: {ast.unparse(value)}"
    return "name a call such as loss(w, x)"


def moved(tree: ast.expr, lines: int, columns: int) -> ast.expr:
    """The expression, with every part moved down by `lines` and to the right by `columns`."""
    ast.increment_lineno(tree, lines)
    for node in ast.walk(tree):
        if isinstance(node, ast.expr | ast.keyword):
            node.col_offset += columns
            node.end_col_offset = (node.end_col_offset or 0) + columns
    return tree


def _option(line: str, at: int, flags: Mapping[str, Option]) -> tuple[Option, str, int]:
    match = _OPTION.match(line, at)
    assert match
    flag, end = match[0], match.end()
    if flag not in flags and flag[:2] in flags and not flag.startswith("--"):
        flag, end = flag[:2], at + 2
    if flag not in flags:
        raise UsageError(_unknown(flag, [name for name, option in flags.items() if option.help]))
    if not flags[flag].metavar:
        may_have = flags[flag].may_have
        given = may_have.match(line, end) if may_have is not None else None
        return flags[flag], given[0].strip(" =\t") if given else "", given.end() if given else end
    value, end = _value(line, end)
    if not value:
        raise UsageError(f"{flag} needs a value: {flag} {flags[flag].metavar}")
    return flags[flag], value, end


def _unknown(flag: str, flags: Sequence[str]) -> str:
    near = [known for known in flags if known.startswith(flag)][:2] or difflib.get_close_matches(flag, flags, n=1)
    long = (known for known in flags if known.startswith("--"))
    hint = f"did you mean {' or '.join(near)}?" if near else f"the options are {', '.join(long)}"
    return f"unknown option {flag}; {hint}"


def _value(line: str, at: int) -> tuple[str, int]:
    """An option's value, which is quoted or ends at a space outside brackets that does not follow a comma."""
    start = at + 1 if line[at : at + 1] == "=" else at
    start += len(line[start:]) - len(line[start:].lstrip())
    if line[start : start + 1] in ("'", '"'):
        end = _string_end(line, start)
        if end - start < 2 or line[end - 1] != line[start]:
            raise UsageError(f"{line[start:]} has no closing {line[start]}")
        return line[start + 1 : end - 1].replace("\\" + line[start], line[start]), end
    end, depth = start, 0
    while end < len(line) and (depth or not line[end].isspace() or _goes_on(line, start, end)):
        if line[end] in "\"'":
            end = _string_end(line, end)
            continue
        depth += (line[end] in _OPENING) - (line[end] in _CLOSING)
        end += 1
    return line[start:end].strip(), end


def _goes_on(line: str, start: int, at: int) -> bool:
    before, after = line[start:at].rstrip(), line[at:].lstrip()
    return bool(before) and bool(after) and (before[-1] == "," or after[0] == ",")


def _string_end(line: str, at: int) -> int:
    quote = line[at] * 3 if line.startswith(line[at] * 3, at) else line[at]
    end = at + len(quote)
    while end < len(line):
        if line[end] == "\\":
            end += 2
        elif line.startswith(quote, end):
            return end + len(quote)
        else:
            end += 1
    return len(line)
