"""Whether a program fits on its device: the verdict of every view, from what is known without compiling once more."""

from __future__ import annotations

from dataclasses import replace

from jaxstage_ext.analysis.memory import fit as memory_fit
from jaxstage_ext.analysis.memory import memory_wording
from jaxstage_ext.analysis.memory.fit import DeviceMemory, Fit
from jaxstage_ext.core.stage import stage_list
from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.program.device.device_figures import device_memory
from jaxstage_ext.program.device.target_title import target_platform
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.memory import memory, memory_needed

NOT_READ = "not computed yet: open Memory, or read .memory"
"""Of a file that holds XLA's buffer assignment."""
NOT_COMPUTED = "not computed yet: this version of XLA gives no total; open Memory, or read .memory"


def device_fit(program: Program) -> Fit:
    """Whether a program fits. What XLA does not tell of its memory is unknown until that was computed."""
    if (known := memory.known(program)) is not None:
        return known.fit
    device = device_memory(program)
    fit = _read(program, device)
    fit = fit if fit.needed is not None else replace(fit, reason=why_unknown(program))
    return replace(fit, text=memory_wording.fit(fit, device))


def _read(program: Program, device: DeviceMemory) -> Fit:
    where = target_platform(program)
    if program.executable is None:
        error = program.error.message if program.error is not None else why_unknown(program)
        return memory_fit.read(None, device, where, error)
    needed, sizes = memory_needed(program), program.memory_statistics.sizes
    if needed is None and where == "cuda" and program.has_hlo and sizes:
        least = memory_fit.without_constants(sizes)
        return memory_fit.read_between(least, least + _constants(program.module), device, where)
    return memory_fit.read(needed, device, where)


def _constants(module: Module) -> int:
    """The bytes of all constants of a module, of which a program keeps some."""
    return int(module.shapes.bytes[module.rows(b"constant")].sum())


def why_unknown(program: Program) -> str:
    """Why it is unknown how much memory a program needs."""
    if program.executable is None:
        if program.error is not None:
            return f"{program.error.stage} failed"
        stops = not stage_list.makes_executable(program.stage)
        return f"not compiled: %{program.stage} stops earlier" if stops else "not compiled yet"
    if program.has_assignment:
        return NOT_READ
    statistics = program.memory_statistics
    return NOT_COMPUTED if statistics.sizes else statistics.reason
