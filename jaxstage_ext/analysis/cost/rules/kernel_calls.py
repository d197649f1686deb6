"""The work of Pallas kernels in the HLO: that of the pallas_call equation which a custom call was made from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from jaxstage_ext.analysis.cost import jaxpr_cost
from jaxstage_ext.analysis.cost.jaxpr_cost import Work
from jaxstage_ext.analysis.cost.rules import library_calls
from jaxstage_ext.analysis.cost.rules.library_calls import Counted
from jaxstage_ext.ir.hlo.module import Module

TARGETS = ("tpu_custom_call", "mosaic_gpu", "mosaic_gpu_v2", "__gpu$xla.gpu.triton", "triton_kernel_call")
"""Targets of the custom calls that Pallas kernels become: Mosaic for TPUs and GPUs, and Triton."""
AMBIGUOUS = "several kernels of this line could be this one, and their FLOPs differ"


class PallasKernel(NamedTuple):
    """A pallas_call equation: its source line and name, the sizes of its first result, its work."""

    line: str
    name: str
    result: tuple[int, ...]
    work: Work


def kernel(eqn: Any, line: str) -> PallasKernel:
    """What there is to know of a pallas_call equation."""
    result = tuple(eqn.outvars[0].aval.shape) if eqn.outvars else ()
    return PallasKernel(line, str(eqn.params.get("name") or ""), result, jaxpr_cost.equation(eqn))


def calls(ops: Module) -> list[library_calls.CustomCall]:
    """The custom calls of a module that may be kernels."""
    return [call for call in library_calls.calls(ops) if call.target in TARGETS]


def count(ops: Module, lines: Sequence[str], kernels: Sequence[PallasKernel]) -> dict[int, Counted]:
    """The work of the custom calls that come from one of these kernels, by their rows."""
    counted = {}
    for call in calls(ops):
        matching = _matching(ops, call, lines[call.row], kernels)
        if matching:
            works = {kernel.work for kernel in matching}
            counted[call.row] = _counted(next(iter(works))) if len(works) == 1 else Counted(math.nan, 0.0, AMBIGUOUS)
    return counted


def _matching(
    ops: Module, call: library_calls.CustomCall, line: str, kernels: Sequence[PallasKernel]
) -> list[PallasKernel]:
    """The kernels of the same line and shape; of these, the ones whose name the call has, where there are any."""
    same = [kernel for kernel in kernels if kernel.line == line and list(kernel.result) == call.result]
    steps = ops.scopes[ops.scope[call.row]].split("/") if ops.scope[call.row] >= 0 else []
    named = [kernel for kernel in same if kernel.name and kernel.name in steps]
    return named or same


def _counted(work: Work) -> Counted:
    if work.unknown:
        return Counted(math.nan, work.transcendentals, work.unknown[0])
    return Counted(work.flops, work.transcendentals)
