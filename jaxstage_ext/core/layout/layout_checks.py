"""Layouts that JAX would refuse before Shardy sees them."""

from __future__ import annotations

from collections.abc import Sequence

from jaxstage_ext.ir.partitioning.module_layout import AxisSpec, ModuleLayout, undivided
from jaxstage_ext.ir.partitioning.partitionable_module import PartitionableModule
from jaxstage_ext.report.unavailable import Unavailable


def refusal(module: PartitionableModule, layout: ModuleLayout) -> Unavailable | None:
    """Why a module cannot have a layout; None where it can."""
    for what, values, specs in (
        ("argument", module.arguments, layout.arguments),
        ("result", module.results, layout.results or (None,) * len(module.results)),
    ):
        if len(values) != len(specs):
            return Unavailable(f"the layout has {len(specs)} {what}s and the program {len(values)}")
        if reason := _wrong(module, what, values, specs, layout):
            return Unavailable(reason)
    missing = [name for name, _ in module.constraints if name not in layout.mesh]
    if missing:
        return Unavailable(f"the program constrains a value over {', '.join(missing)}, which the mesh does not have")
    return None


def _wrong(
    module: PartitionableModule,
    what: str,
    values: Sequence[int],
    specs: Sequence[AxisSpec | None],
    layout: ModuleLayout,
) -> str:
    for place, (value, spec) in enumerate(zip(values, specs, strict=True)):
        if spec is None:
            continue
        shape, names = module.values[value].shape, [name for axes in spec for name in axes]
        if len(spec) != len(shape):
            return f"{what} {place} has {len(shape)} dimensions and its spec {len(spec)}"
        if unknown := [name for name in names if name not in layout.mesh]:
            return f"{what} {place} is split over {unknown[0]}, which the mesh does not have"
        if len(names) > len(set(names)):
            return f"{what} {place} is split twice over one axis"
        for at, size, parts in undivided(shape, spec, layout.mesh):
            return f"dimension {at} of {what} {place} has size {size}, which {parts} does not divide"
    return ""
