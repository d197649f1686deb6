"""`%inspect`: opens what JAX, XLA or a profiler has written to a file or a folder."""

from __future__ import annotations

import os
import shlex
from argparse import ArgumentTypeError
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from IPython.core.error import UsageError

from jaxstage_ext.notebook.lines.stage_line import axis_sizes
from jaxstage_ext.report.text.public_paths import public_text

OPTIONS = ("--target", "-t", "--dim")
_USAGE = "%inspect needs a file or a folder, for example %inspect module.hlo.pb; %inspect? shows the rest"
_NEEDS = "{word} needs a target, for example %inspect module.mlir {word} v5e:2x2"
_NEEDS_SIZE = "--dim needs a size, for example %inspect module.bin --dim b=8"


@dataclass(frozen=True)
class _Asked:
    path: str
    module: str | None
    targets: tuple[str, ...]
    dims: Mapping[str, int]


def opened(line: str, space: Mapping[str, Any]) -> Any:
    """What `%inspect` shows, given the user's namespace. Raises UsageError."""
    asked = _parsed(line)
    from jaxstage_ext.api import load
    from jaxstage_ext.api.xla_dump import ModulesInFile, XlaDump

    source = _source(asked.path, space)
    try:
        found = load.load(source, target=asked.targets, dims=asked.dims)
        if asked.module is None:
            return found
        if not isinstance(found, XlaDump | ModulesInFile):
            raise UsageError(f"%inspect {asked.path}: it holds one module, so leave out {asked.module}")
        return found.module(int(asked.module) if asked.module.isdecimal() else asked.module, asked.targets)
    except OSError as error:
        raise UsageError(f"%inspect {asked.path}: {error.strerror or error}") from None
    except KeyError as error:
        raise UsageError(f"%inspect {asked.path}: {error.args[0]}") from None
    except (ValueError, RuntimeError) as error:
        raise UsageError(public_text(" ".join(f"%inspect {asked.path}: {error}".split()))) from None
    except MemoryError:
        raise UsageError(f"%inspect {asked.path}: it is too large for this machine's memory") from None


def _parsed(line: str) -> _Asked:
    try:
        words = shlex.split(line, posix=os.name != "nt")
    except ValueError:
        raise UsageError(f"%inspect {line.strip()}: missing closing quotation mark") from None
    paths: list[str] = []
    targets: list[str] = []
    dims: dict[str, int] = {}
    rest = iter(words)
    for word in rest:
        if word in OPTIONS:
            if (value := next(rest, None)) is None:
                raise UsageError(_NEEDS.format(word=word) if word != "--dim" else _NEEDS_SIZE)
            if word == "--dim":
                dims |= _sizes(value)
            else:
                targets += value.split(",")
        elif word.startswith("-"):
            raise UsageError(f"%inspect has no option {word}; it has --target and --dim")
        else:
            paths.append(word)
    if not paths:
        raise UsageError(_USAGE)
    if len(paths) > 2:
        raise UsageError(f"%inspect takes a file, or a folder and a module, not {len(paths)} names")
    return _Asked(paths[0], paths[1] if len(paths) > 1 else None, tuple(targets), dims)


def _sizes(text: str) -> dict[str, int]:
    try:
        return dict(axis_sizes(text))
    except ArgumentTypeError as error:
        raise UsageError(f"%inspect --dim: {error}") from None


def _source(path: str, space: Mapping[str, Any]) -> Any:
    """The value of a variable of that name, where there is no such file; else the path. Raises UsageError."""
    value = space.get(path) if path.isidentifier() and not os.path.exists(path) else None
    if value is None or isinstance(value, str | os.PathLike | bytes):
        return path if value is None else value
    raise UsageError(
        f"%inspect {path}: {path} is a variable that holds {_kind(value)}, not a path; %compile takes functions and "
        f"what JAX made of them, and an Inspection is shown by a line of {path} alone"
    )


def _kind(value: Any) -> str:
    name = type(value).__name__
    return f"{'an' if name[:1] in 'AEIOaeio' else 'a'} {name}"
