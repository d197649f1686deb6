"""What a program is compiled for, in words: platform, target, device."""

from __future__ import annotations

import jax

from jaxstage_ext.core.targets.cross_compile import Executable
from jaxstage_ext.core.targets.devices import CATALOGUE
from jaxstage_ext.core.targets.target import Target
from jaxstage_ext.program.program import Program


def platform(program: Program) -> str:
    """Where it is compiled for: "cpu", "gpu" or "tpu", as XLA names flags."""
    return program.platform


def target_platform(program: Program) -> str:
    """Where it is compiled for: "cpu", "cuda" or "tpu", as targets name it."""
    name = platform(program)
    return "cuda" if name == "gpu" else name


def target_title(program: Program) -> str:
    """The target, or the platform that the kernel has, and JAX's version."""
    wanted = program.target
    if program.own_title is not None:
        return program.own_title
    if not wanted.is_local:
        size, is_partial = size_used(program), bool(part_used(program))
        if wanted.platform == "cuda":
            many = " · ".join([*([size] if is_partial else []), _chosen(program)])
        else:
            many = f"{wanted.platform}, {size}"
        return f"{wanted} · {many} · jax {jax.__version__}"
    return f"{platform(program)} · jax {jax.__version__}"


def size_used(program: Program) -> str:
    """The size of the target in words, "8 GPUs", and how much of it the program uses where that is not all."""
    compiled = program.compiled
    return program.target.size_used(compiled.devices) if isinstance(compiled, Executable) else program.target.size


def part_used(program: Program) -> str:
    """What follows a device's name where figures would else read as those of all: " (1 of 8 GPUs used)"; else ""."""
    used = size_used(program)
    return "" if used == program.target.size else f" ({used})"


def _chosen(program: Program) -> str:
    """How the kernels of an absent GPU were chosen."""
    compiled = program.compiled
    tuned = compiled.tuned if isinstance(compiled, Executable) else None
    return tuned.title if tuned else "heuristic, not autotuned"


def device_title(target: Target) -> str:
    """What JAX calls a device of an absent target: a chip, or one of its cores."""
    half = target.devices != target.chips
    return f"{CATALOGUE[target.kind].title}{' TensorCore' if half else ''}"
