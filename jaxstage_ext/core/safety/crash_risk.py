"""What XLA is known not to survive, so that a worker compiles it before this process does.

Each kind was seen to end a process that compiled for the CPU, with jaxlib 0.10.2 or 0.12.0.1.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

import jax

from jaxstage_ext.core.jax_private import jaxprs, lowered_modules
from jaxstage_ext.core.safety.large_program import LargeProgram
from jaxstage_ext.core.stage.stage_definition import LOWER, TRACE
from jaxstage_ext.core.stage.stageable import unwrap
from jaxstage_ext.core.stage.staged import Staged
from jaxstage_ext.core.targets import cross_compile
from jaxstage_ext.report import kernel_settings
from jaxstage_ext.worker import memory_limit
from jaxstage_ext.worker.request_errors import WorkerDied

MOST_ELEMENTS = 2**31
"""XLA's sizes overflow in arrays of more elements: in the strides of a dot, in the work space of an SVD."""
DEEPEST = 25
"""Functions within functions, such as loops in loops, above which XLA's recursion may exhaust the stack."""
_ORDINARY = re.compile(r"xla_(?:cpu_enable|cpu_strict|cpu_use|cpu_multi_thread|gpu|tpu|dump)_\w+")
_ORDINARY_NAMES = {"xla_backend_optimization_level", "exec_time_optimization_effort", "memory_fitting_effort"}


class CrashRisk(StrEnum):
    """Why XLA might not survive a compile."""

    OPTIONS = "its compile options are not among those known to be harmless"
    CUSTOM_CALL = "it calls a function of its own by jax.ffi"
    AXIS_NAME = "a mesh axis has a name of other characters than ASCII letters and digits"
    SIZE = "it has an array of 2³¹ elements or more"
    DEPTH = "its functions are nested very deeply"


def crash_risk(traced: Any, lowered: Any, options: Mapping[str, Any]) -> CrashRisk | None:
    """Why XLA might not survive the compile of a call with these options; None where nothing speaks for that.

    `traced` and `lowered` are JAX's own objects; None where a library has none.
    """
    own = lowered_modules.own_options(lowered) if lowered is not None else {}
    if not all(_is_ordinary(name, value) for name, value in {**own, **options}.items()):
        return CrashRisk.OPTIONS
    if lowered is not None and any(_is_unusual(text) for text in lowered_modules.meshes_of_module(lowered)):
        return CrashRisk.AXIS_NAME
    return _risk_of_jaxpr(traced.jaxpr.jaxpr) if traced is not None else None


def _is_ordinary(name: str, value: Any) -> bool:
    return name in _ORDINARY_NAMES or bool(_ORDINARY.fullmatch(name) and (isinstance(value, bool) or "dump" in name))


def _is_unusual(mesh: str) -> bool:
    """Whether an axis name in the text of a mesh, in which such characters are escaped, is unusual."""
    return "\\" in mesh


def _risk_of_jaxpr(jaxpr: Any) -> CrashRisk | None:
    if _is_large(jaxpr.invars):
        return CrashRisk.SIZE
    for eqn, depth in jaxprs.nested_equations(jaxpr):
        if depth > DEEPEST:
            return CrashRisk.DEPTH
        if eqn.primitive.name == "ffi_call":
            return CrashRisk.CUSTOM_CALL
        if _is_large(eqn.outvars):
            return CrashRisk.SIZE
    return None


def _is_large(variables: Iterable[Any]) -> bool:
    return any(_elements(getattr(variable.aval, "shape", ())) >= MOST_ELEMENTS for variable in variables)


def _elements(shape: tuple[Any, ...]) -> int:
    return math.prod(shape) if all(type(size) is int for size in shape) else 0  # a symbolic size is unknown


_NO_WORKER = ("start", "stopped")


def survive(staged: Staged) -> None:
    """Try a compile for the kernel's own CPU in a worker, where there is reason to. Raises WorkerDied.

    Its result is discarded, and so are XLA's own errors, which JAX gives when it compiles in this process.
    """
    call, lowered = staged.call, unwrap(staged.value(LOWER))
    if lowered is None or jax.default_backend() != "cpu":
        return
    risk = crash_risk(unwrap(staged.value(TRACE)), lowered, call.compiler_options)
    if risk is None:
        return
    options = {name: value for name, value in call.compiler_options.items() if "dump" not in name}
    try:
        cross_compile.compile(lowered, call.fn, cross_compile.here(staged.target), staged.limits, False, options)
    except WorkerDied as died:
        if died.cause not in _NO_WORKER:
            raise _explained(died, risk) from None
    except Exception:
        return


def _explained(died: WorkerDied, risk: Any) -> WorkerDied:
    return WorkerDied(
        f"{died.summary}, where this program was tried first because {risk}; this kernel did not compile it",
        died.cause,
        died.log,
    )


def large(staged: Staged) -> LargeProgram | None:
    """What makes a lowered call too large for this process; None where this process compiles it.

    It does so for an accelerator that it holds, which a second process would disturb, and where the user asks for it.
    """
    if staged.limits.large_here or jax.default_backend() != "cpu" or jax.process_count() > 1:
        return None
    lowered = unwrap(staged.value(LOWER))
    operations = lowered_modules.count_operations(lowered) if isinstance(lowered, jax.stages.Lowered) else 0
    if operations <= (most := kernel_settings.now().large_program):
        return None
    limit = staged.limits.memory
    return LargeProgram(operations, most, memory_limit.default() if limit is None else limit)
