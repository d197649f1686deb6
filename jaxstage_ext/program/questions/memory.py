"""The memory of a program: recompiled in the worker, with the function's names of its values."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import jax
import numpy as np

from jaxstage_ext.analysis.cost import module_cost
from jaxstage_ext.analysis.cost.module_cost import Cost, Places
from jaxstage_ext.analysis.memory import buffers, embedded_constants, fit, memory_advice, memory_wording, module_memory
from jaxstage_ext.analysis.memory.entry_values import Argument, Constant, Donation, EntryComputation
from jaxstage_ext.analysis.memory.live_memory import Memory
from jaxstage_ext.analysis.memory.program_trials import DonationTrial, PolicyTrial
from jaxstage_ext.core.derivative import donation, rematerialization, residuals
from jaxstage_ext.core.given import lacking_stage
from jaxstage_ext.core.inputs import captured
from jaxstage_ext.core.jax_private import lowered_modules, mosaic_dumps
from jaxstage_ext.core.recompile import recompiled_buffers as recompiled
from jaxstage_ext.core.recompile.recompiled_buffers import Assigned
from jaxstage_ext.ir.hlo import buffer_assignment, hlo_document
from jaxstage_ext.ir.hlo import module as hlo
from jaxstage_ext.ir.hlo import schedule as hlo_schedule
from jaxstage_ext.program.device.device_figures import device_memory
from jaxstage_ext.program.device.target_title import platform
from jaxstage_ext.program.fact import fact, slow_fact
from jaxstage_ext.program.head import call_signature
from jaxstage_ext.program.head.dtype_names import short_dtype
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.cost import cost
from jaxstage_ext.program.questions.refused_shardings import argument_names
from jaxstage_ext.program.source.instruction_places import instruction_places, line_label, places_in
from jaxstage_ext.report.progress import Progress
from jaxstage_ext.report.text.units import scaled
from jaxstage_ext.report.unavailable import Unavailable

_DIFFERENT_MODULE = (
    "Recompiling produced a different module, as can happen on GPUs; these figures describe that module."
)


@slow_fact
def memory(program: Program, progress: Progress | None) -> Memory:
    """The memory of a program, even if its compile ran out of memory. Recompiles it in the worker.

    Raises:
      Unavailable: where nothing was lowered, XLA gives no buffer assignment, or the worker cannot compile it.
      TargetError, WorkerDied, JaxRuntimeError: as a compile in the worker does.
    """
    if (held := program.held_assignment()) is not None:
        return read(program, held)
    if program.jax_lowered is None:
        why = f"{program.name} was not lowered here, so its memory is unknown; inspect it with stage='compile'"
        raise Unavailable(lacking_stage.without_stablehlo(program.call, "its memory over time is unknown", why))
    assigned = recompiled.recompile(program.staged, progress)
    try:
        memory = read(program, assigned)
    except Unavailable:
        raise
    except ValueError as error:  # a name in a damaged file need not be text, which XLA takes
        if not program.is_of_file:
            raise
        raise Unavailable(f"the buffer assignment of {program.name} cannot be read: {error}") from None
    if program.jax_traced is None:  # a change is made to what JAX traced
        return memory
    return replace(memory, trial=functools.partial(_tried, program), donate=functools.partial(_donated, program))


def _tried(program: Program, policy: Any, written: Memory, progress: Progress | None) -> PolicyTrial:
    """The program compiled with a checkpoint policy, or as written without one."""
    if not policy:
        work = cost(program).work if program.has_hlo else _work(written)
        return PolicyTrial("", written.space().peak, work.flops_range, written)
    staged = rematerialization.staged_with(program.staged, policy)
    memory = replace(read(Program(staged), recompiled.recompile(staged, progress)), kept=None)
    name, work = policy if isinstance(policy, str) else getattr(policy, "__name__", str(policy)), _work(memory)
    return PolicyTrial(name, memory.space().peak, work.flops_range, memory)


def _donated(program: Program, names: tuple[str, ...], written: Memory, progress: Progress | None) -> DonationTrial:
    """The program compiled with arguments donated, or as written without names."""
    if not names:
        return DonationTrial((), written.space().reserved, _work(written).bytes_range, (), written)
    every = [argument.name for argument in written.entry.arguments] if written.entry else []
    if missing := [name for name in names if not any(memory_advice.concerns(path, name) for path in every)]:
        raise ValueError(f"{program.name} has no argument {missing[0]!r}; it has {', '.join(every[:8])}")
    numbers = [at for at, path in enumerate(every) if any(memory_advice.concerns(path, name) for name in names)]
    staged = donation.staged_with(program.staged, numbers)
    memory = replace(read(Program(staged), recompiled.recompile(staged, progress)), kept=None)
    rows = list(memory.arguments.rows())
    unused = tuple(rows[at]["argument"] for at in numbers if at < len(rows) and _is_unused(rows[at]))
    return DonationTrial(names, memory.space().reserved, _work(memory).bytes_range, unused, memory)


def _is_unused(row: Mapping[str, Any]) -> bool:
    return str(row["state"]) == memory_wording.DONATIONS[Donation.UNUSED]


def _work(memory: Memory) -> Cost:
    return module_cost.read(memory.scheduled.ops, memory.places)


def read(program: Program, assigned: Assigned) -> Memory:
    """The memory of a program from the worker's answer. Raises Unavailable if it has no buffer assignment."""
    assignment = buffer_assignment.read(assigned.proto)
    if assignment is None:
        raise Unavailable(f"XLA gives no buffer assignment of {program.name}, so its memory is unknown")
    ops = hlo.parse(assignment.module, program.module if program.has_hlo else None)
    schedule = hlo_schedule.read(ops)
    if schedule is None:
        raise Unavailable(f"XLA did not schedule {program.name}, so its memory over time is unknown")
    where, notes = _places(program, ops)
    assignment = embedded_constants.added(assignment, ops, assigned.platform)
    scheduled = buffers.read(ops, assignment, schedule, list(where.scope))
    traced = program.jax_traced
    kept = functools.partial(residuals.read, traced) if traced is not None else None
    return module_memory.read(
        scheduled,
        where,
        assigned.platform,
        device_memory(program),
        assigned.stats,
        entry(program),
        assigned.error,
        (*notes, *profile_buffer_notes(program)),
        kept,
        memory_needed(program),
    )


def _places(program: Program, ops: hlo.Module) -> tuple[Places, tuple[str, ...]]:
    """The places of the instructions in the HLO document; only their source lines if there is no document."""
    if program.has_hlo and ops is program.module:
        return instruction_places(program), ()
    if program.has_hlo:
        same = set(ops.names) == set(program.module.names)
        return places_in(program.documents["hlo"], ops), () if same else (_DIFFERENT_MODULE,)
    linked = hlo_document.sources(ops, program.frame_table)
    frames = program.frame_table.freeze()
    user = np.where(linked.frame >= 0, frames.user[np.maximum(linked.frame, 0)], -1) if len(frames) else linked.frame
    labels = {int(frame): line_label(frames, int(frame)) for frame in np.unique(user)}
    lines = [labels[frame] for frame in user.tolist()]
    groups = [*(scope.rpartition("/")[0] for scope in ops.scopes), ""]
    scope = [groups[i] for i in linked.scope.tolist()]
    return Places(np.full(len(ops), -1), lines, scope), ()


@fact
def entry(program: Program) -> EntryComputation | None:
    """The function's names of what goes in and out; None where JAX does not give them."""
    traced, lowered = program.jax_traced, program.jax_lowered
    if lowered is None or (traced is None and program.call.given is None):
        return None
    if (written := call_signature.entry(program)) is not None:
        return written
    signature = lowered_modules.signature(traced, lowered, captured.namer(program.call.fn))
    infos = jax.tree.leaves(lowered.args_info, is_leaf=lambda leaf: hasattr(leaf, "donated"))
    own = len(signature.arguments) - len(signature.captured)
    if len(infos) != own:
        return None
    given = program.call.given
    names = given.info.arguments if given and len(given.info.arguments) == own else signature.arguments[:own]
    arguments = tuple(
        Argument(name, _shape(info), _bytes(info), bool(info.donated), i in signature.kept)
        for i, (name, info) in enumerate(zip(argument_names(program.call, names), infos, strict=True))
    )
    arguments += tuple(
        Argument(name, _shape(ref), _bytes(ref), donated=True, kept=True)
        for name, ref in zip(signature.arguments[own:], signature.captured, strict=True)
    )
    return EntryComputation(arguments, signature.results, _constants(program, signature.constants), signature.tokens)


def _constants(program: Program, arrays: tuple[Any, ...]) -> tuple[Constant, ...]:
    known = captured.names(program.call.fn, arrays)
    constants = [
        Constant(name, _shape(array), _bytes(array) or 0, int(np.size(array)))
        for name, array in zip(known, arrays, strict=True)
    ]
    return tuple(sorted(constants, key=lambda constant: -constant.size))


def _shape(array: Any) -> str:
    try:
        return f"{short_dtype(array.dtype)}[{','.join(map(str, array.shape))}]" if hasattr(array, "dtype") else ""
    except TypeError:  # of a token, which orders effects
        return "token"


def _bytes(array: Any) -> int | None:
    try:
        return int(np.prod(array.shape)) * int(array.dtype.itemsize)
    except (AttributeError, TypeError):
        return None


_CALL = re.compile(
    r"^\s*(?:ROOT )?%(?P<name>\S+) = \((?P<results>[^()]*(?:\([^()]*\)[^()]*)*)\) custom-call\(.*"
    r'custom_call_target="mosaic_gpu'
)
_WORDS = re.compile(r"u32\[(\d+)\](?:\{[^{}]*\})?$")


def profile_buffer_notes(program: Program) -> tuple[str, ...]:
    """Which buffer is the profile's of which kernel, and that `profile_space` makes it."""
    kernels = mosaic_dumps.profiled_kernels(program.jax_traced)
    if not kernels or not program.has_hlo:
        return ()
    found = []
    for line in program.documents["hlo"].lines:
        call = _CALL.match(line)
        words = _WORDS.search(call["results"]) if call is not None else None
        if call is not None and words is not None:
            index = call["results"].count("[") - 1
            found.append((f"{call['name']}{{{index}}}", 4 * int(words[1])))
    names = kernels if len(kernels) == len(found) else [" or ".join(dict.fromkeys(kernels))] * len(found)
    return tuple(
        f"{buffer}, {scaled(size, 'B')}, is the buffer that {name} records its profile into (profile_space)."
        for (buffer, size), name in zip(found, names, strict=True)
    )


def memory_needed(program: Program) -> int | None:
    """Bytes that the executable's buffers take on one device, on a TPU its code too; None where XLA does not say.

    With the constants inside a CPU's fusions, which XLA's statistics leave out.
    """
    if program.executable is None:
        return None
    where = platform(program)
    allocated = fit.allocated(program.memory_statistics.sizes, where)
    if allocated is None or not program.has_hlo:
        return allocated
    return allocated + embedded_constants.size(program.module, where)
