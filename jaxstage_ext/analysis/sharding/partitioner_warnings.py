"""What XLA's partitioner warns of: data that every device gets whole because there is no direct way."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jaxstage_ext.analysis.sharding import from_text
from jaxstage_ext.analysis.sharding.propagation import Propagated, named
from jaxstage_ext.ir.hlo.module import Module

_REMATERIALISED = re.compile(
    r"cannot go from sharding (?P<before>\{.*?\}) to (?P<after>\{.*?\}) efficiently for HLO operation "
    r"%(?P<name>[\w.-]+) = (?P<type>\w+)\[(?P<shape>[\d,]*)\]"
)
_OP_NAME = re.compile(r'metadata=\{[^}]*?op_name="(?P<name>[^"]*)"')


@dataclass(frozen=True)
class Rematerialised:
    """Data that is gathered whole on every device though nobody asked for it.

    Attributes:
      value: what the compiler calls it.     line: the source line, empty where unknown.
      scope: the name scope of the operation.
      before, after: the shardings between which it found no direct way.
    """

    value: str
    line: str
    before: str
    after: str
    scope: str = ""

    def __str__(self) -> str:
        at = f" at {self.line}" if self.line else ""
        way = f"XLA has no direct way from {self.before} to {self.after}"
        return f"Involuntary full rematerialisation{at}: {way}, so every device gets all of {self.value}."


def read(
    logged: Sequence[str], module: Module, lines: Sequence[str], before: Propagated | None
) -> tuple[Rematerialised, ...]:
    """What the partitioner logged about data that it gathers whole.

    `lines` are the source lines of the module's instructions, and `before` is the module that was partitioned.
    """
    found = (_warning(line, module, lines, before) for line in logged)
    return tuple(dict.fromkeys(one for one in found if one is not None))


def _warning(line: str, module: Module, lines: Sequence[str], before: Propagated | None) -> Rematerialised | None:
    match = _REMATERIALISED.search(line)
    if match is None:
        return None
    name = _OP_NAME.search(line)
    called = name["name"] if name else f"%{match['name']}"
    shape = [int(size) for size in match["shape"].split(",") if size]
    old, new = (_spelled(match[key], len(shape), before) for key in ("before", "after"))
    value = f"{called}, {match['type']}[{match['shape']}] a device"
    return Rematerialised(value, _line(called, module, lines), old, new, name["name"] if name else "")


def _spelled(text: str, rank: int, before: Propagated | None) -> str:
    meshes, devices = (before.meshes, before.devices) if before else ((), 1)
    return named(from_text.hlo(text, rank, devices), meshes).spec


def _line(scope: str, module: Module, lines: Sequence[str]) -> str:
    """The source line that all instructions of a scope have."""
    if scope not in module.scopes:
        return ""
    number = module.scopes.index(scope)
    found = {lines[row] for row in np.flatnonzero(module.scope == number).tolist()} - {""}
    return found.pop() if len(found) == 1 else ""
