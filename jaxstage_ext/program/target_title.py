"""What a program is compiled for, in words: platform, target, device."""

from __future__ import annotations

import jax

from jaxstage_ext.core.targets.cross_compile import Executable
from jaxstage_ext.core.targets.devices import CATALOGUE
from jaxstage_ext.core.targets.target import Target
from jaxstage_ext.program.file_program import FileProgram
from jaxstage_ext.program.kernel_program import KernelProgram
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.recorded_program import RecordedProgram
from jaxstage_ext.report.recording import LaneKind

ON_HOST = (LaneKind.HOST, LaneKind.PYTHON, LaneKind.STEPS, LaneKind.COUNTER)
NO_DEVICE = "no device"
"""The platform where none is known."""
_MOST_NAMED = 2


def platform(program: Program) -> str:
    """Where it is compiled for: "cpu", "gpu" or "tpu", as XLA names flags."""
    if isinstance(program, RecordedProgram):
        return program.platform
    if isinstance(program, FileProgram):
        return program.platform or NO_DEVICE
    if not program.target.is_local:
        return "gpu" if program.target.platform == "cuda" else program.target.platform
    try:
        return jax.default_backend()
    except Exception:  # JAX_PLATFORMS may name a platform whose plugin fails in its own way
        return NO_DEVICE


def target_platform(program: Program) -> str:
    """Where it is compiled for: "cpu", "cuda" or "tpu", as targets name it."""
    name = platform(program)
    return "cuda" if name == "gpu" else name


def target_title(program: Program) -> str:
    """The target, or the platform that the kernel has, and JAX's version."""
    wanted = program.target
    if isinstance(program, RecordedProgram):
        return _recorded_on(program)
    if isinstance(program, FileProgram):
        return f"{program.platform or 'unknown platform'} · {program.title}"
    if isinstance(program, KernelProgram):  # which asks for no device
        return f"jax {jax.__version__}"
    if not wanted.is_local:
        many = _chosen(program) if wanted.platform == "cuda" else f"{wanted.platform}, {wanted.size}"
        return f"{wanted} · {many} · jax {jax.__version__}"
    return f"{platform(program)} · jax {jax.__version__}"


def _recorded_on(program: RecordedProgram) -> str:
    """The devices of a profile, as the profile names them."""
    lanes = program.timeline.recording.lanes if program.timeline else ()
    groups = list(dict.fromkeys(lane.group for lane in lanes if lane.kind not in ON_HOST))
    more = f" and {len(groups) - _MOST_NAMED} more" if len(groups) > _MOST_NAMED else ""
    return f"profile of {', '.join(groups[:_MOST_NAMED])}{more}" if groups else "profile"


def _chosen(program: Program) -> str:
    """How the kernels of an absent GPU were chosen."""
    compiled = program.compiled
    tuned = compiled.tuned if isinstance(compiled, Executable) else None
    return tuned.title if tuned else "heuristic, not autotuned"


def device_title(target: Target) -> str:
    """What JAX calls a device of an absent target: a chip, or one of its cores."""
    half = target.devices != target.chips
    return f"{CATALOGUE[target.kind].title}{' TensorCore' if half else ''}"
