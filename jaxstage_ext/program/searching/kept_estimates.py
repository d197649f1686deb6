"""Estimates of layouts in the inspection cache, so that a search goes on where an earlier one ended.

A program that stands elsewhere, as in another cell, is the same program: of lines the key has only which operations
share one, and the lines of collectives are those of the program that reads the estimates.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from jaxstage_ext.core.jax_private import lowered_modules
from jaxstage_ext.ir.partitioning.partitionable_module import PartitionableModule
from jaxstage_ext.ir.partitioning.partitioned_module import CollectiveKind
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.partitioned import SearchableProgram
from jaxstage_ext.search.layout_result import CollectiveShare, LayoutEstimate
from jaxstage_ext.search.layout_score import ScoringDevice
from jaxstage_ext.search.layout_specs import LayoutSpecs
from jaxstage_ext.store import cache

_VERSION = "3"
"""Of the way in which layouts are scored."""


def key_of(program: Program, searchable: SearchableProgram, device: ScoringDevice) -> str:
    """The key of the estimates of a program on a target."""
    text, _ = lowered_modules.stablehlo_texts(program.jax_lowered)
    about = str(searchable.explicit), str(program.target), repr(device.ceilings)
    return cache.key("layout estimates", _VERSION, text, repr(_places(searchable.module)), *about)


def _places(module: PartitionableModule) -> list[tuple[str | int, str]]:
    """Of each operation the line and the scope; lines by number, but where a sentence of an estimate may name one."""
    numbers: dict[str, int] = {}
    is_named = any(op.trips is None for op in module.ops)
    return [(op.line if is_named else numbers.setdefault(op.line, len(numbers)), op.scope) for op in module.ops]


def load(key: str, module: PartitionableModule) -> dict[LayoutSpecs, LayoutEstimate]:
    """The estimates under a key of a module; none where none are kept."""
    return cache.load(key, functools.partial(_read, module)) or {}


def keep(key: str, estimates: Mapping[LayoutSpecs, LayoutEstimate]) -> None:
    """Keep estimates under a key."""
    cache.store(key, {"estimates": [[_specs_json(specs), _json(one)] for specs, one in estimates.items()]})


def _specs_json(specs: LayoutSpecs) -> list[Any]:
    return [specs.mesh, specs.arguments, specs.results]


def _json(estimate: LayoutEstimate) -> dict[str, Any]:
    plain = asdict(estimate)
    return plain | {"parts": [part | {"kind": part["kind"].value, "line": ""} for part in plain["parts"]]}


def _read(module: PartitionableModule, head: dict[str, Any], parts: list[bytes]) -> dict[LayoutSpecs, LayoutEstimate]:
    """Raises where it is not what `keep` wrote."""
    if parts or head.keys() != {"estimates"}:
        raise ValueError("no estimates of layouts")
    return {_specs(specs): _estimate(module, one) for specs, one in head["estimates"]}


def _specs(read: list[Any]) -> LayoutSpecs:
    mesh, arguments, results = read
    return LayoutSpecs(
        tuple((str(name), int(size)) for name, size in mesh),
        tuple(_spec(spec) for spec in arguments),
        tuple(_spec(spec) for spec in results),
    )


def _spec(read: list[list[str]] | None) -> tuple[tuple[str, ...], ...] | None:
    return None if read is None else tuple(tuple(map(str, axes)) for axes in read)


def _estimate(module: PartitionableModule, read: dict[str, Any]) -> LayoutEstimate:
    shares = tuple(_share(module, part) for part in read["parts"])
    return LayoutEstimate(**read | {"unknown": tuple(read["unknown"]), "parts": shares})


def _share(module: PartitionableModule, read: dict[str, Any]) -> CollectiveShare:
    line = module.ops[read["op"]].line if read["op"] >= 0 else ""
    kind, axes = CollectiveKind(read["kind"]), tuple(map(str, read["axes"]))
    return CollectiveShare(**read | {"kind": kind, "axes": axes, "line": line})
