"""The memory of an Inspection: its program compiled once more in the worker, and read against the function's names."""

from __future__ import annotations

import functools
import threading
import weakref
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from jaxstage_ext.analysis.cost.module_cost import Places
from jaxstage_ext.analysis.memory import buffers
from jaxstage_ext.analysis.memory import live_memory as memories
from jaxstage_ext.analysis.memory.entry_values import Argument, Constant, Entry
from jaxstage_ext.analysis.memory.fit import Device
from jaxstage_ext.analysis.memory.live_memory import Memory
from jaxstage_ext.core import captured, jax_private, residuals, stages
from jaxstage_ext.core.recompile import buffers as memory_look
from jaxstage_ext.core.recompile.buffers import Assigned
from jaxstage_ext.core.targets.devices import CATALOGUE, memory_of
from jaxstage_ext.ir.hlo import buffer_assignment
from jaxstage_ext.ir.hlo import document as hlo_document
from jaxstage_ext.ir.hlo import module as hlo
from jaxstage_ext.ir.hlo import schedule as hlo_schedule
from jaxstage_ext.program.cost_inputs import label, located
from jaxstage_ext.report.progress import Progress
from jaxstage_ext.report.unavailable import Unavailable
from jaxstage_ext.worker import memory_limit

if TYPE_CHECKING:
    from jaxstage_ext.inspection import Inspection


class MemoryLook:
    """An inspection's memory, looked at when it is first asked for."""

    def __init__(self, inspection: Inspection) -> None:
        self._inspection = weakref.ref(inspection)
        self._lock = threading.Lock()
        self._memory: Memory | None = None

    @property
    def found(self) -> Memory | None:
        """What a look has found; None before one."""
        return self._memory

    def memory(self, progress: Progress | None = None) -> Memory:
        """The memory; see `look`."""
        with self._lock:
            if self._memory is None:
                inspection = self._inspection()
                assert inspection is not None
                self._memory = look(inspection, progress)
            return self._memory


_ANOTHER = "XLA gave another module this time, as it does at times for GPUs: these figures are of that one."


def look(inspection: Inspection, progress: Progress | None = None) -> Memory:
    """The memory of an inspection's program, also of one whose compile ran out of it.

    Raises:
      Unavailable: where nothing was lowered, or XLA gives no buffer assignment.
      TargetError, WorkerDied, JaxRuntimeError: as a compile in the worker does.
    """
    if stages.unwrap(inspection.lowered) is None:
        raise Unavailable(f"{inspection.name} was not lowered here, so its memory is unknown; inspect it anew")
    return read(inspection, memory_look.recompile(inspection._staged, progress))


def read(inspection: Inspection, assigned: Assigned) -> Memory:
    """The memory of an inspection from what the worker gave. Raises Unavailable where that holds no assignment."""
    assignment = buffer_assignment.read(assigned.proto)
    if assignment is None:
        raise Unavailable(f"XLA gives no buffer assignment of {inspection.name}, so its memory is unknown")
    ops = hlo.parse(assignment.module, inspection._module_columns if "hlo" in inspection.documents else None)
    schedule = hlo_schedule.read(ops)
    if schedule is None:
        raise Unavailable(f"XLA has put {inspection.name} into no order, so its memory over time is unknown")
    where, notes = _places(inspection, ops)
    laid = buffers.read(ops, assignment, schedule, list(where.scope))
    device = _device(inspection, assigned.platform)
    traced = stages.unwrap(inspection.traced)
    kept = functools.partial(residuals.read, traced) if traced is not None else None
    return memories.read(
        laid, where, assigned.platform, device, assigned.stats, _entry(inspection), assigned.error, notes, kept
    )


def _places(inspection: Inspection, ops: hlo.Module) -> tuple[Places, tuple[str, ...]]:
    """Where the instructions stand in the HLO document; where there is none, their lines alone."""
    if "hlo" in inspection.documents:
        same = ops is inspection._module_columns or set(ops.names) == set(inspection._module_columns.names)
        return located(inspection, ops), () if same else (_ANOTHER,)
    linked = hlo_document.sources(ops, inspection._table)
    frames = inspection._table.freeze()
    user = np.where(linked.frame >= 0, frames.user[np.maximum(linked.frame, 0)], -1) if len(frames) else linked.frame
    labels = {int(frame): label(frames, int(frame)) for frame in np.unique(user)}
    lines = [labels[frame] for frame in user.tolist()]
    groups = [*(scope.rpartition("/")[0] for scope in ops.scopes), ""]
    scope = [groups[i] for i in linked.scope.tolist()]
    return Places(np.full(len(ops), -1), lines, scope), ()


def _device(inspection: Inspection, platform: str) -> Device:
    """What the program is held against."""
    target = inspection.target
    if platform == "cpu":
        half = memory_limit.half_of_machine()
        return Device("this machine", None if half is None else 2 * half, "the memory of this machine is unknown")
    device = CATALOGUE.get(target.kind)
    title = f"one {device.title}" if device else str(target)
    return Device(title, memory_of(target), f"the maker of {title} gives no figure for its memory")


def _entry(inspection: Inspection) -> Entry | None:
    """The function's names of what goes in and out; None where JAX tells none of them."""
    traced, lowered = stages.unwrap(inspection.traced), stages.unwrap(inspection.lowered)
    if traced is None or not isinstance(lowered, jax.stages.Lowered):
        return None
    signature = jax_private.signature(traced, lowered)
    infos = jax.tree.leaves(lowered.args_info, is_leaf=lambda leaf: hasattr(leaf, "donated"))
    if len(infos) != len(signature.arguments):
        return None
    arguments = tuple(
        Argument(name, _shape(info), _bytes(info), bool(info.donated), i in signature.kept)
        for i, (name, info) in enumerate(zip(signature.arguments, infos, strict=True))
    )
    return Entry(arguments, signature.results, _constants(inspection, signature.constants), signature.tokens)


def _constants(inspection: Inspection, arrays: tuple[Any, ...]) -> tuple[Constant, ...]:
    known = captured.names(inspection.call.fn, arrays)
    found = [
        Constant(name, _shape(array), _bytes(array) or 0, int(np.size(array)))
        for name, array in zip(known, arrays, strict=True)
    ]
    return tuple(sorted(found, key=lambda constant: -constant.size))


def _shape(array: Any) -> str:
    from jaxstage_ext.program.summary import short_dtype

    return f"{short_dtype(array.dtype)}[{','.join(map(str, array.shape))}]" if hasattr(array, "dtype") else ""


def _bytes(array: Any) -> int | None:
    try:
        return int(np.prod(array.shape)) * int(array.dtype.itemsize)
    except (AttributeError, TypeError):
        return None
