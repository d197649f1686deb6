"""Whether a program fits on its device: the verdict of every view, from what is known without compiling once more."""

from __future__ import annotations

from dataclasses import replace

from jaxstage_ext.analysis.memory import fit as memory_fit
from jaxstage_ext.analysis.memory import memory_wording
from jaxstage_ext.analysis.memory.fit import Fit
from jaxstage_ext.core import stage_list
from jaxstage_ext.program.device_figures import device_memory
from jaxstage_ext.program.memory import memory
from jaxstage_ext.program.memory_needed import memory_needed
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.target_title import platform

NOT_COMPUTED = "not computed yet: this version of XLA gives no total; open Memory, or read `.memory`"

_CUDA = {"gpu": "cuda"}


def device_fit(program: Program) -> Fit:
    """Whether a program fits. Of one that XLA gives no total of, it is unknown until its memory was computed."""
    if (known := memory.known(program)) is not None:
        return known.fit
    needed, device = memory_needed(program), device_memory(program)
    error = program.error.message if program.error is not None and program.executable is None else None
    fit = memory_fit.read(needed, device, _CUDA.get(platform(program), platform(program)), error, why_unknown(program))
    return replace(fit, text=memory_wording.fit(fit, device))


def why_unknown(program: Program) -> str:
    """Why it is unknown how much memory a program needs."""
    if program.executable is None:
        if program.error is not None:
            return f"{program.error.stage} failed"
        stops = not stage_list.makes_executable(program.stage)
        return f"not compiled: %{program.stage} stops earlier" if stops else "not compiled yet"
    statistics = program.memory_statistics
    return NOT_COMPUTED if statistics.sizes else statistics.reason
