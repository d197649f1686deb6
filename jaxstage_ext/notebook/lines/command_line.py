"""A magic's own line: options anywhere, and the calls to stage as Python."""

from __future__ import annotations

import argparse
import ast
import difflib
import keyword
import re
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from IPython.core.error import UsageError
from IPython.core.magic_arguments import MagicArgumentParser

from jaxstage_ext.core.stage import stage_list
from jaxstage_ext.notebook.lines import compile_options
from jaxstage_ext.worker.memory_limit import bytes_of

if TYPE_CHECKING:
    from jaxstage_ext.core.stage.stage_definition import StageDefinition

FROM_TOOLBAR = "--from-toolbar"
"""Of a magic's line that a button has put above the cell's text: it is not part of that text."""
_OPTION = re.compile(r"--?[A-Za-z][\w-]*")
_OPENING, _CLOSING = "([{", ")]}"


class GivenOption(NamedTuple):
    """An option as it stands on a line, by its full name."""

    name: str
    text: str


class Command(NamedTuple):
    """A parsed line. `code` is the line with its options blanked out, so that columns stay; `given` are these."""

    options: argparse.Namespace
    code: str
    given: tuple[GivenOption, ...] = ()

    @property
    def jit(self) -> dict[str, Any]:
        """The options of `jax.jit` that the line sets."""
        names = ("static_argnums", "static_argnames", "donate_argnums", "donate_argnames")
        given = {name: tuple(value) for name in names if (value := getattr(self.options, name))}
        return given | ({"keep_unused": True} if self.options.keep_unused else {})


def identifier(text: str) -> str:
    """A Python name, as an option's value. Raises ArgumentTypeError for anything else."""
    if not text.isidentifier() or keyword.iskeyword(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a valid Python name")
    return text


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.strip("()[]").split(",") if part.strip()]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of positions such as 0,2") from None


def _names(text: str) -> list[str]:
    names = [part.strip() for part in text.strip("()[]").split(",") if part.strip()]
    if not names or not all(name.isidentifier() for name in names):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of parameter names such as n,mode")
    return names


def axis_sizes(text: str) -> list[tuple[str, int]]:
    """The axes of `--dim` with their sizes. Raises ArgumentTypeError."""
    dims = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*([^\W\d]\w*)\s*=\s*(\d+)\s*", part)
        if not match:
            raise argparse.ArgumentTypeError(f"{part.strip()!r} is not an axis size such as b=8")
        dims.append((match[1], int(match[2])))
    return dims


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0
    if not 0 < seconds < 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds such as 60")
    return seconds


def _memory(text: str) -> int:
    try:
        return bytes_of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


_HELP = """{help}

The calls to stage come from, in this order: calls on the magic's line, separated by `;`; the cell's last line, when
it is a call (an assignment is not); --args; annotations such as `Float[Array, "8 128"]`, and defaults. A staged call
is not run. Everything else in the cell takes effect as in an ordinary cell.

    %%{name}
    def loss(w, x):
        return jnp.sum(jnp.tanh(x @ w))
    loss(w, x)

    %{name} loss(w, x); jax.grad(loss)(w, x)
    %{name} model.apply(params, batch)
    %{name} --args "f32[8,128], w=f32[128,512]" loss
    ins = %{name} loss(w, x)

What JAX made of a function can stand in its place, as a name or as the call that makes it: a Traced, Lowered or
Compiled (`jax.jit(loss).lower(w, x)`), an Exported, a ClosedJaxpr. It starts at its own stage.

SHAPES are the arguments of a call. `f32[8,128]` is an array, `f32[]` a scalar, `key[]` a random key, and `f32[b,128]`
has an axis whose size --dim sets; dicts, lists and tuples of these are pytrees; anything else is Python. Named
arguments go to their parameters, the others to the remaining parameters in order."""


def parser(stage: StageDefinition) -> MagicArgumentParser:
    """The options of a stage's magic; the parser's help is the magic's docstring."""
    name, compiled = stage.name, stage_list.makes_executable(stage.name)
    usage = f"{name} [options] function(arguments); ..."
    description = _HELP.format(name=name, help=stage.help)
    made = LineParser(prog=name, usage=usage, description=description, allow_abbrev=False)
    add = made.add_argument
    add(
        "-o",
        "--output",
        type=identifier,
        metavar="NAME",
        help="Bind the Inspection to NAME; a tuple of them for several calls.",
    )
    add("--run", action="store_true", help="Run the executable of %%compile as well; the result is its value.")
    add("--args", metavar="SHAPES", help='Arguments given as shapes: --args "f32[8,128], w=f32[128,512], n=3".')
    add("--dim", type=axis_sizes, action="extend", metavar="b=8", help="Size of a named axis; may be repeated.")
    add("--static-argnums", type=_numbers, action="extend", metavar="0,2", help="As in jax.jit.")
    add("--static-argnames", type=_names, action="extend", metavar="n,mode", help="As in jax.jit.")
    add("--donate-argnums", type=_numbers, action="extend", metavar="0", help="As in jax.jit.")
    add("--donate-argnames", type=_names, action="extend", metavar="state", help="As in jax.jit.")
    add("--keep-unused", action="store_true", help="As in jax.jit: keep the arguments that the function does not use.")
    if stage_list.is_per_target(name):
        add(
            "-t",
            "--target",
            action="append",
            metavar="v5e:4x4",
            help="Target to compile for: local, cpu:8, v5e:4x4, h100:8; may be repeated. %%targets lists them.",
        )
    add(
        "--mesh",
        metavar="data=4,model=2",
        help="Mesh of the target's devices, with automatic axes, or an expression for a mesh of your own. It is the "
        "context mesh of the function's PartitionSpecs.",
    )
    add(
        "--in-spec",
        action=_Joined,
        metavar="SPECS",
        help="PartitionSpecs of the arguments on --mesh, in order or by name: --in-spec \"P('data'), w=P(None, "
        "'model')\". A single spec applies to every argument; may be repeated. What is left out, or None, stays "
        "unspecified, as in jax.jit.",
    )
    add("--out-spec", metavar="SPECS", help="PartitionSpecs of the result on --mesh, as out_shardings of jax.jit.")
    if compiled:
        add(
            "--timeout",
            type=_seconds,
            metavar="SECONDS",
            help="Time limit for worker compiles, in seconds; 600 by default.",
        )
        add(
            "--memory",
            type=_memory,
            metavar="8GB",
            help="Memory limit of a worker compile; %%config JAXStage.memory sets the default.",
        )
        add(
            "--no-isolate",
            action="store_true",
            help="Compile for the local target in this kernel, however large the program is. Otherwise a program of "
            "more StableHLO operations than %%config JAXStage.large_program is compiled in a worker.",
        )
        add(
            "--isolate",
            action="store_true",
            help="Compile for the local target in a worker as well, so that a crash cannot take the kernel down.",
        )
    add(
        "--vs",
        metavar="INSPECTION",
        help="Compare with an Inspection made before, such as that of an earlier version of the function: "
        "`--vs before`, where `before` was bound by `-o before`.",
    )
    add("-q", "--quiet", action="store_true", help="Show no panel; useful with --output.")
    add(FROM_TOOLBAR, action="store_true", help=argparse.SUPPRESS)
    if compiled:
        compile_options.add_to(made)
    return made


class _Joined(argparse.Action):
    """An option whose values, where it is given more than once, count as one list."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: Any = None) -> None:
        earlier = getattr(namespace, self.dest, None)
        setattr(namespace, self.dest, f"{earlier}, {values}" if earlier else values)


class LineParser(MagicArgumentParser):
    """A parser whose errors are one-line UsageErrors, and whose options are not abbreviated."""

    def __init__(self, *, allow_abbrev: bool, **options: Any) -> None:
        super().__init__(**options)  # type: ignore[no-untyped-call]
        self.allow_abbrev = allow_abbrev

    def error(self, message: str) -> NoReturn:
        raise UsageError(message.removeprefix("argument "))


def parse(line: str, of: MagicArgumentParser) -> Command:
    """Read the options out of a line. They may stand anywhere outside brackets and strings."""
    flags = {flag: action for action in of._actions for flag in action.option_strings}
    argv: list[str] = []
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
            argument, end = _option(line, at, flags)
            argv.append(argument)
            given.append(GivenOption(argument.partition("=")[0], line[at:end].strip()))
            code = code[:at] + " " * (end - at) + code[end:]
            at = end
        else:
            at += 1
    return Command(of.parse_args(argv), code, tuple(given))


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


def _option(line: str, at: int, flags: dict[str, argparse.Action]) -> tuple[str, int]:
    match = _OPTION.match(line, at)
    assert match
    flag, end = match[0], match.end()
    if flag not in flags and flag[:2] in flags and not flag.startswith("--"):
        flag, end = flag[:2], at + 2
    if flag not in flags:
        raise UsageError(_unknown(flag, flags))
    name = flags[flag].option_strings[-1]
    if flags[flag].nargs == 0:
        return name, end
    value, end = _value(line, end)
    if not value:
        raise UsageError(f"{flag} needs a value: {flag} {flags[flag].metavar}")
    return f"{name}={value}", end


def _unknown(flag: str, flags: dict[str, argparse.Action]) -> str:
    flags = {name: action for name, action in flags.items() if action.help != argparse.SUPPRESS}
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
