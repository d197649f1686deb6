"""The options of the magics of stages, such as `%%compile`."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError
from typing import TYPE_CHECKING, Any

from jaxstage_ext.core.stage import stage_list
from jaxstage_ext.notebook.lines import compile_options
from jaxstage_ext.notebook.lines.command_line import QUIET, TOOLBAR, Command, MagicLine, Option, identifier, listed
from jaxstage_ext.worker.memory_limit import bytes_of

if TYPE_CHECKING:
    from jaxstage_ext.core.stage.stage_definition import StageDefinition

PROCESSES = "--processes"
"""The option that makes a magic stage its calls in the processes of a job."""
_HELP = """{help}

The calls to stage come from, in this order: calls on the magic's line, separated by `;`; the cell's last line, when
it is a call, or assigns one or looks at its result (`params, l = step(params)`, `print(loss(w, x))`; not with --args);
--args; annotations such as `Float[Array, "8 128"]`, and defaults. A staged call is not run, and so no line around it;
--run runs both. Everything else in the cell takes effect as in an ordinary cell.

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


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.strip("()[]").split(",") if part.strip()]
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a list of positions such as 0,2") from None


def _names(text: str) -> list[str]:
    names = [part.strip() for part in text.strip("()[]").split(",") if part.strip()]
    if not names or not all(name.isidentifier() for name in names):
        raise ArgumentTypeError(f"{text!r} is not a list of parameter names such as n,mode")
    return names


def axis_sizes(text: str) -> list[tuple[str, int]]:
    """The axes of `--dim` with their sizes. Raises ArgumentTypeError."""
    dims = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*([^\W\d]\w*)\s*=\s*(\d+)\s*", part)
        if not match:
            raise ArgumentTypeError(f"{part.strip()!r} is not an axis size such as b=8")
        dims.append((match[1], int(match[2])))
    return dims


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0
    if not 0 < seconds < 1e6:
        raise ArgumentTypeError(f"{text!r} is not a number of seconds such as 60")
    return seconds


def _memory(text: str) -> int:
    try:
        return bytes_of(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None


def _processes(text: str) -> tuple[int, ...]:
    return tuple(sorted({int(part) for part in text.split(",") if part}))


_compiles = stage_list.makes_executable
_OPTIONS = (
    Option("-o --output", "Bind the Inspection to NAME; a tuple of them for several calls.", "NAME", identifier),
    Option("--run", "Run the executable of %%compile as well; the result is its value."),
    Option("--args", 'Arguments given as shapes: --args "f32[8,128], w=f32[128,512], n=3".', "SHAPES"),
    Option("--dim", "Size of a named axis; may be repeated.", "b=8", axis_sizes, adds=True),
    Option("--static-argnums", "As in jax.jit.", "0,2", _numbers, adds=True),
    Option("--static-argnames", "As in jax.jit.", "n,mode", _names, adds=True),
    Option("--donate-argnums", "As in jax.jit.", "0", _numbers, adds=True),
    Option("--donate-argnames", "As in jax.jit.", "state", _names, adds=True),
    Option("--keep-unused", "As in jax.jit: keep the arguments that the function does not use."),
    Option(
        "-t --target",
        "Target to compile for: local, cpu:8, v5e, v5e:4x4, h100:8; may be repeated. %%targets lists them.",
        "v5e:4x4",
        listed,
        adds=True,
        when=stage_list.is_per_target,
    ),
    Option(
        "--mesh",
        "Mesh of the target's devices, with automatic axes, or an expression for a mesh of your own. It is the "
        "context mesh of the function's PartitionSpecs.",
        "data=4,model=2",
    ),
    Option(
        "--in-spec",
        "PartitionSpecs of the arguments on --mesh, in order or by name: --in-spec \"P('data'), w=P(None, "
        "'model')\". A single spec applies to every argument; may be repeated. What is left out, or None, stays "
        "unspecified, as in jax.jit.",
        "SPECS",
        adds=True,
    ),
    Option("--out-spec", "PartitionSpecs of the result on --mesh, as out_shardings of jax.jit.", "SPECS"),
    Option(
        "--timeout", "Time limit for worker compiles, in seconds; 600 by default.", "SECONDS", _seconds, when=_compiles
    ),
    Option(
        "--memory",
        "Memory limit of a worker compile; %%config JAXStage.memory sets the default.",
        "8GB",
        _memory,
        when=_compiles,
    ),
    Option(
        "--no-isolate",
        "Compile for the local target in this kernel, however large the program is. Otherwise a program of "
        "more StableHLO operations than %%config JAXStage.large_program is compiled in a worker.",
        when=_compiles,
    ),
    Option(
        "--isolate",
        "Compile for the local target in a worker as well, so that a crash cannot take the kernel down.",
        when=_compiles,
    ),
    Option(
        "--vs",
        "Compare with an Inspection made before, such as that of an earlier version of the function: "
        "`--vs before`, where `before` was bound by `-o before`.",
        "INSPECTION",
    ),
    Option(
        PROCESSES,
        "Stage the calls in each process of the job that %%processes started, or in those of these numbers, and show "
        "which of them agree. The cell runs in the processes, not in this kernel, and the calls are not run. "
        "Of those that agree one compiles, and the others read what it made.",
        type=_processes,
        may_have=re.compile(r"(?:[ \t]+|=)\d+(?:,\d+)*(?=\s|$)"),
    ),
    QUIET,
    TOOLBAR,
)


def stage_line(stage: StageDefinition) -> MagicLine:
    """The line of a stage's magic."""
    options = tuple(option for option in _OPTIONS if option.when(stage.name))
    if stage_list.makes_executable(stage.name):
        options += compile_options.OPTIONS
    text = _HELP.format(name=stage.name, help=stage.help)
    return MagicLine(stage.name, "[options] function(arguments); ...", text, options)


def jit_options(asked: Command) -> dict[str, Any]:
    """The options of `jax.jit` that a line sets."""
    names = ("static_argnums", "static_argnames", "donate_argnums", "donate_argnames")
    given = {name: tuple(value) for name in names if (value := getattr(asked.options, name))}
    return given | ({"keep_unused": True} if asked.options.keep_unused else {})
