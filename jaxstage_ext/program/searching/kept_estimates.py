"""Estimates of layouts in the inspection cache, so that a search goes on where an earlier one ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from jaxstage_ext.ir.partitioning.partitioned_module import CollectiveKind
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.partitioned import SearchableProgram
from jaxstage_ext.search.layout_result import CollectiveShare, LayoutEstimate
from jaxstage_ext.search.layout_score import ScoringDevice
from jaxstage_ext.search.layout_specs import LayoutSpecs
from jaxstage_ext.store import cache

_VERSION = "2"
"""Of the way in which layouts are scored."""


def key_of(program: Program, searchable: SearchableProgram, device: ScoringDevice) -> str:
    """The key of the estimates of a program on a target."""
    figures = repr(device.ceilings)
    return cache.key(
        "layout estimates", _VERSION, searchable.module.key, str(searchable.explicit), str(program.target), figures
    )


def load(key: str) -> dict[LayoutSpecs, LayoutEstimate]:
    """The estimates under a key; none where none are kept."""
    return cache.load(key, _read) or {}


def keep(key: str, estimates: Mapping[LayoutSpecs, LayoutEstimate]) -> None:
    """Keep estimates under a key."""
    cache.store(key, {"estimates": [[_specs_json(specs), _json(one)] for specs, one in estimates.items()]})


def _specs_json(specs: LayoutSpecs) -> list[Any]:
    return [specs.mesh, specs.arguments, specs.results]


def _json(estimate: LayoutEstimate) -> dict[str, Any]:
    plain = asdict(estimate)
    return plain | {"parts": [part | {"kind": part["kind"].value} for part in plain["parts"]]}


def _read(head: dict[str, Any], parts: list[bytes]) -> dict[LayoutSpecs, LayoutEstimate]:
    """Raises where it is not what `keep` wrote."""
    if parts or head.keys() != {"estimates"}:
        raise ValueError("no estimates of layouts")
    return {_specs(specs): _estimate(one) for specs, one in head["estimates"]}


def _specs(read: list[Any]) -> LayoutSpecs:
    mesh, arguments, results = read
    return LayoutSpecs(
        tuple((str(name), int(size)) for name, size in mesh),
        tuple(_spec(spec) for spec in arguments),
        tuple(_spec(spec) for spec in results),
    )


def _spec(read: list[list[str]] | None) -> tuple[tuple[str, ...], ...] | None:
    return None if read is None else tuple(tuple(map(str, axes)) for axes in read)


def _estimate(read: dict[str, Any]) -> LayoutEstimate:
    shares = tuple(
        CollectiveShare(**part | {"kind": CollectiveKind(part["kind"]), "axes": tuple(part["axes"])})
        for part in read["parts"]
    )
    return LayoutEstimate(**read | {"unknown": tuple(read["unknown"]), "parts": shares})
