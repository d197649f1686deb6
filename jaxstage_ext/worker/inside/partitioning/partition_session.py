"""Modules that are kept ready for layouts, by a key of their bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from jaxstage_ext.worker.inside.module_functions import MAIN
from jaxstage_ext.worker.inside.partitioning import fused_groups, layout_attributes, round_trip, sharding_rules
from jaxstage_ext.worker.inside.partitioning.local_work import LocalWork
from jaxstage_ext.worker.inside.partitioning.module_columns import ModuleColumns

_MOST_KEPT = 4
_SPLIT_CONSTANTS = "builtin.module(sdy-constant-or-scalar-splitter)"
_PROPAGATION = "builtin.module(sdy-propagation-pipeline)"
_COLLECTIVES = (
    "builtin.module(func.func(sdy-sharding-constraint-to-reshard,"
    "sdy-insert-explicit-reshards{enable-full-version=true},sdy-reshard-to-collectives))"
)


class UnknownModule(KeyError):
    """The worker has no module of that key: it was started since, or has dropped it."""


class PartitionSession:
    """The modules of one worker."""

    def __init__(self) -> None:
        self._kept: dict[str, _Ready] = {}

    def open(self, module: bytes, with_constraints: bool = True) -> dict[str, Any]:
        """Keep a module of StableHLO bytecode; its key and columns. See `round_trip.round_trip`."""
        key = hashlib.sha256(module + bytes([with_constraints])).hexdigest()[:16]
        if key not in self._kept:
            while len(self._kept) >= _MOST_KEPT:
                self._kept.pop(next(iter(self._kept)))
            self._kept[key] = _Ready(module, with_constraints)
        return {"key": key, **self._kept[key].answer()}

    def partition(self, key: str, layouts: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """What each layout makes of a module, {"error": text} where Shardy refuses it. Raises UnknownModule."""
        if key not in self._kept:
            raise UnknownModule(key)
        return [self._kept[key].partition(layout) for layout in layouts]

    def propagated(self, key: str, layout: Mapping[str, Any]) -> Any:
        """The MLIR module of a layout after propagation, before anything is resharded."""
        return self._kept[key].propagated(layout)


class _Ready:
    """One module after its round trip."""

    def __init__(self, module: bytes, with_constraints: bool) -> None:
        ready = round_trip.round_trip(module, with_constraints)
        self._module, self._boundary = ready.module, {"constraints": ready.constraints, "own": ready.own}
        self._columns = ModuleColumns()
        context = self._module.context
        context.enable_multithreading(False)
        with context:
            _run(self._module.operation, _SPLIT_CONSTANTS)
            sharding_rules.populate(self._module.operation)
            self._columns.read(main_of(self._module.operation))
            _run(self._module.operation, "builtin.module(func.func(sdy-drop-sharding-rules))")
        counted = fused_groups.counted(self._columns.ops, self._columns.results, self._columns.values)
        self._work = LocalWork(self._columns, counted)

    def answer(self) -> dict[str, Any]:
        columns = self._columns
        names = ("values", "ops", "ties", "arguments", "results")
        return {name: getattr(columns, name) for name in names} | self._boundary

    def propagated(self, layout: Mapping[str, Any]) -> Any:
        copy = self._module.operation.clone()
        with self._module.context:
            layout_attributes.write(copy, main_of(copy), layout)
            _run(copy, _PROPAGATION)
        return copy

    def partition(self, layout: Mapping[str, Any]) -> dict[str, Any]:
        with self._module.context:
            copy = self._module.operation.clone()
            try:
                layout_attributes.write(copy, main_of(copy), layout)
                _run(copy, _PROPAGATION)
                _run(copy, _COLLECTIVES)
                return self._work.read(main_of(copy), dict(layout["mesh"]))
            except Exception as error:
                return {"error": f"{type(error).__name__}: {error}"}
            finally:
                copy.erase()


def main_of(module: Any) -> Any:
    """The operation that is the function `main` of a module, an operation."""
    return next(
        each.operation
        for each in module.regions[0].blocks[0].operations
        if each.operation.name == "func.func" and str(each.operation.attributes["sym_name"]) == f'"{MAIN}"'
    )


def _run(module: Any, pipeline: str) -> None:
    from jaxlib.mlir.passmanager import PassManager

    PassManager.parse(pipeline).run(module)
