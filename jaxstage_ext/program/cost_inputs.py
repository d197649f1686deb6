"""The numbers of an Inspection: each table made of what the inspection holds, when it is first asked for."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import jax
import numpy as np
import numpy.typing as npt

from jaxstage_ext.analysis.collectives.exposed_time import Exchange
from jaxstage_ext.analysis.cost import equations as equation_costs
from jaxstage_ext.analysis.cost import jaxpr_cost, roofline
from jaxstage_ext.analysis.cost import module_cost as costs
from jaxstage_ext.analysis.cost.equations import Equations
from jaxstage_ext.analysis.cost.module_cost import Cost, Places
from jaxstage_ext.analysis.cost.roofline import Roofline
from jaxstage_ext.core import jaxpr_lines, stages
from jaxstage_ext.core.targets import devices
from jaxstage_ext.core.targets.cross_compile import Executable
from jaxstage_ext.core.targets.devices import Device
from jaxstage_ext.ir.hlo import text_rows
from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.report.document import Document
from jaxstage_ext.report.frames import Frames
from jaxstage_ext.report.table import Column, Table
from jaxstage_ext.report.unavailable import Unavailable

if TYPE_CHECKING:
    from jaxstage_ext.inspection import Inspection


def cost(inspection: Inspection) -> Cost:
    """What the optimised module costs. Raises Unavailable where there is none."""
    ops = inspection._operations
    return costs.read(ops, located(inspection, ops))


def operations(inspection: Inspection) -> Module:
    """The instructions of the optimised module. Raises Unavailable where there is none."""
    needs_module(inspection)
    return inspection._module_columns


def needs_module(inspection: Inspection) -> Callable[[], bytes]:
    """What gives the optimised module's proto. Raises Unavailable where there is none."""
    proto = inspection._hlo_proto()
    if proto is None:
        raise Unavailable(f"{inspection.name} has no optimised HLO to count; inspect it with stage='compile'")
    return proto


def equations(inspection: Inspection) -> Equations:
    """What each equation of the jaxpr costs. Raises Unavailable where JAX traced none."""
    traced = stages.unwrap(inspection.traced)
    if traced is None:
        raise Unavailable(f"{inspection.name} was not traced by JAX itself, so there is no jaxpr to count")
    row_of, document = jaxpr_lines.rows(traced.jaxpr), inspection.documents["jaxpr"]

    def places_of(eqns: Sequence[Any]) -> Places:
        row = np.array([row_of.get(id(eqn), -1) for eqn in eqns], np.int64)
        frame = np.where(row >= 0, document.user_frame[row], -1)
        labels = {int(one): label(document.frames, int(one)) for one in np.unique(frame)}
        scopes = (*document.scopes, "")
        scope = np.where(row >= 0, document.scope[row], -1)
        return Places(row, [labels[one] for one in frame.tolist()], [scopes[one] for one in scope.tolist()])

    return equation_costs.read(traced.jaxpr, places_of)


_located: WeakKeyDictionary[Inspection, WeakKeyDictionary[Module, Places]] = WeakKeyDictionary()


def located(inspection: Inspection, ops: Module) -> Places:
    """Where instructions stand: the optimised module's, or those of a later compile, which have the same names."""
    known = _located.setdefault(inspection, WeakKeyDictionary())
    if ops not in known:
        known[ops] = places(inspection.documents["hlo"], ops)
    return known[ops]


def places(document: Document, ops: Module) -> Places:
    """Where each instruction stands in the HLO document, and which source line and name scope it has."""
    row = _with_started(ops, text_rows.read(document.text, ops.names).row)
    known = row >= 0
    frame = np.where(known, document.user_frame[np.maximum(row, 0)], -1)
    scope = np.where(known, document.scope[np.maximum(row, 0)], -1)
    labels = {int(f): label(document.frames, int(f)) for f in np.unique(frame)}
    groups = [*map(_group, document.scopes), ""]
    return Places(row, [labels[f] for f in frame.tolist()], [groups[s] for s in scope.tolist()])


def _with_started(ops: Module, row: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """What runs asynchronously is left out of the text: it stands where its start does."""
    owner, called = ops.called.owner, ops.called.values
    starts = (ops.opcode[owner] == b"async-start") & (called >= 0)
    starter = np.full(len(ops.computations), -1, np.int64)
    starter[called[starts]] = row[owner[starts]]
    return np.where(row < 0, starter[ops.computation], row)


def label(frames: Frames, frame: int) -> str:
    """Cell or file, and line, of a frame; "" where there is none."""
    if frame < 0:
        return ""
    span = frames.span(frame)
    return f"{span.cell or span.file}:{span.line}"


def _group(scope: str) -> str:
    """A name stack without its last part, the primitive."""
    return scope.rpartition("/")[0]


def ledger(inspection: Inspection, cost: Cost) -> Table:
    """The same work counted in four ways, and why they differ. What is measured has a column, empty until then."""
    traced = stages.unwrap(inspection.traced)
    work = jaxpr_cost.total(traced.jaxpr) if traced is not None else None
    xla, reason = _by_xla(stages.unwrap(inspection.compiled))
    unknown = math.nan
    devices = _devices(inspection)
    rows = {
        "FLOPs": (work.flops if work else unknown, cost.total_flops, xla.get("flops", unknown)),
        "transcendentals": (
            work.transcendentals if work else unknown,
            float((cost.transcendentals * cost.runs)[cost.shown].sum()),
            xla.get("transcendentals", unknown if reason else 0.0),
        ),
        "bytes moved": (unknown, cost.total_bytes, xla.get("bytes accessed", unknown)),
    }
    reasons = {(2, "jaxpr"): "a jaxpr says nothing of what is kept in registers or fused"}
    reasons |= {(row, "XLA"): reason for row in range(len(rows)) if reason}
    reasons |= {(row, "measured"): "nothing was run" for row in range(len(rows))}
    columns = {
        "": Column(list(rows)),
        "jaxpr": Column([row[0] for row in rows.values()], "", "counted on the jaxpr, whole program"),
        "HLO": Column(
            [row[1] for row in rows.values()], "", "counted on the optimised HLO, loops as often as they run"
        ),
        "XLA": Column([row[2] for row in rows.values()], "", "XLA's cost analysis of the optimised HLO"),
        "measured": Column([unknown] * len(rows)),
    }
    return Table("ledger", columns, reasons, tuple(_differences(work, cost, xla, reason, devices)))


def _by_xla(compiled: Any) -> tuple[Mapping[str, float], str]:
    try:
        costs_of = compiled.cost_analysis()
    except Unavailable as why:
        return {}, str(why)
    except Exception as error:
        return {}, f"this backend gives no analysis: {error}"
    costs_of = costs_of[0] if isinstance(costs_of, list) and costs_of else costs_of
    return (costs_of, "") if isinstance(costs_of, Mapping) else ({}, "this backend gives no analysis")


def _devices(inspection: Inspection) -> int:
    compiled = stages.unwrap(inspection.compiled)
    if isinstance(compiled, Executable):
        return compiled.devices
    shardings = jax.tree.leaves(getattr(compiled, "input_shardings", ()))
    return max((len(sharding.device_set) for sharding in shardings), default=1)


def _differences(work: Any, cost: Cost, xla: Mapping[str, float], reason: str, devices: int) -> list[str]:
    """Why the columns differ, as far as it is known."""
    told = list(work.unknown) if work else ["There is no jaxpr to count."]
    told = [f"jaxpr: {why}." for why in told]
    if devices > 1:
        told.append(f"The jaxpr is the whole program; HLO is what one of {devices:,} devices does of it.")
    loops = [loop.trips for loop in cost.loops.trips.values() if loop.trips not in (None, 1)]
    if loops:
        told.append(f"XLA counts the body of a loop once; HLO counts {len(loops)} loops as often as they run.")
    once = xla.get("flops", 0.0)
    if work and cost.total_flops and not work.unknown and devices == 1:
        share = cost.total_flops / work.flops - 1 if work.flops else 0.0
        if abs(share) > 0.01:
            made = "more" if share > 0 else "fewer"
            told.append(
                f"The compiler made {abs(share):.1%} {made} FLOPs of it (recomputed in fusions, or folded away)."
            )
    if once and cost.total_once > once * 1.01 and len(cost.ops.rows(b"conditional")):
        told.append("XLA counts one branch of a conditional, HLO all of them.")
    elif once and abs(cost.total_once / once - 1) > 0.01:
        made = "more" if cost.total_once > once else "fewer"
        told.append(f"HLO has {abs(cost.total_once / once - 1):.1%} {made} FLOPs than XLA counts; why is not known.")
    if reason:
        told.append(f"XLA: {reason}.")
    return [*told, *cost.notes]


def roofline_of(inspection: Inspection, cost: Cost, exchanges: Sequence[Exchange] = ()) -> Roofline:
    """The module against the catalogue's peaks of its device; all unknown where the device is not in it."""
    target, platform = inspection.target, inspection.target.platform or jax.default_backend()
    device = devices.share(target) if not target.is_local else _here()
    return roofline.read(cost, device or Device(_title(inspection)), _PLATFORMS.get(platform, platform), exchanges)


_PLATFORMS = {"gpu": "cuda"}


def _here() -> Device | None:
    """The catalogue's figures of one of the kernel's own devices; None where it has none."""
    every = jax.local_devices()
    chips = len({getattr(one, "coords", None) for one in every}) if hasattr(every[0], "coords") else len(every)
    return devices.by_kind(every[0].device_kind, chips / len(every))


def _title(inspection: Inspection) -> str:
    return f"this kernel's {jax.default_backend()}" if inspection.target.is_local else str(inspection.target)
