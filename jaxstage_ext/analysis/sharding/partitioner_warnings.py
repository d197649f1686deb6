"""Warnings of XLA's partitioner: values that it fully replicates because it knows no direct way to reshard them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from jaxstage_ext.analysis.sharding import from_text
from jaxstage_ext.analysis.sharding.propagation import Propagated, named
from jaxstage_ext.analysis.sharding.slices import Sharding
from jaxstage_ext.ir.hlo.module import Module

_REMATERIALISED = re.compile(
    r"cannot go from sharding (?P<before>\{(?:(?! to \{|cannot go ).)*+) to "
    r"(?P<after>\{(?:(?! efficiently for |cannot go ).)*+) efficiently for HLO operation "
    r"%(?P<name>[\w.-]+) = (?P<type>\w+)\[(?P<shape>[\d,]*)\]"
)
_OP_NAME = re.compile(r'metadata=\{[^{}]*?op_name="(?P<name>[^"]*)"')


@dataclass(frozen=True)
class Rematerialised:
    """A value that is fully replicated although the program does not ask for it."""

    value: str
    """What the compiler calls it."""
    line: str
    """Source line of what uses it with the other sharding, else its own, "" unknown."""
    before: str
    after: str
    """`before`, `after`: the shardings between which it knows no direct way."""
    scope: str = ""
    """The name scope of the operation."""
    shard: str = ""
    """Type and shape per device."""
    ends: tuple[Sharding, Sharding] | None = field(default=None, compare=False, repr=False)
    """Both shardings, with the names of mesh axes where they are known."""

    def __str__(self) -> str:
        at = f" at {self.line}" if self.line else ""
        way = f"XLA has no direct way from {self.before} to {self.after}"
        whole = f"all of {self.value} (sharded: {self.shard} per device)"
        return f"Involuntary full rematerialisation{at}: {way}, so every device gets {whole}."


def read(
    logged: Sequence[str], module: Module, lines: Sequence[str], before: Propagated | None
) -> tuple[Rematerialised, ...]:
    """What the partitioner logged about values that it replicates.

    `lines` are the source lines of the module's instructions; `before` is the module before partitioning.
    """
    warnings = (_warning(line, module, lines, before) for line in logged)
    return tuple(dict.fromkeys(warning for warning in warnings if warning is not None))


def _warning(line: str, module: Module, lines: Sequence[str], before: Propagated | None) -> Rematerialised | None:
    match = _REMATERIALISED.search(line)
    if match is None:
        return None
    name = _OP_NAME.search(line)
    called = name["name"] if name else f"%{match['name']}"
    shape = [int(size) for size in match["shape"].split(",") if size]
    old, new = ends = _ends(match, len(shape), before)
    shard = f"{match['type']}[{match['shape']}]"
    place = _place_of_use(called, new.spec, before) or _line(called, module, lines)
    return Rematerialised(called, place, old.spec, new.spec, name["name"] if name else "", shard, ends)


def _ends(match: re.Match[str], rank: int, before: Propagated | None) -> tuple[Sharding, Sharding]:
    meshes, devices = (before.meshes, before.devices) if before else ((), 1)
    old, new = (named(from_text.hlo(match[key], rank, devices), meshes) for key in ("before", "after"))
    return old, new


def _place_of_use(scope: str, spec: str, before: Propagated | None) -> str:
    """The source line of what uses a value with another sharding than it has; "" where that is not one line."""
    if before is None:
        return ""
    copies = [row for row in before.by_scope.get(scope, []) if row in before.reshards]
    users = [user for row in copies if before.sharding(row).spec == spec for user in before.users.get(row, [])]
    lines = {before.line(user) for user in users} - {""}
    return lines.pop() if len(lines) == 1 else ""


def _line(scope: str, module: Module, lines: Sequence[str]) -> str:
    """The source line of a scope, "" unless all its instructions have the same."""
    if scope not in module.scopes:
        return ""
    number = module.scopes.index(scope)
    scope_lines = {lines[row] for row in np.flatnonzero(module.scope == number).tolist()} - {""}
    return scope_lines.pop() if len(scope_lines) == 1 else ""
