"""Errors of a call's environment: what JAX cannot lower or XLA cannot compile here, and compiled code in a trace."""

from __future__ import annotations

import re

from jaxstage_ext.compilation.persistent import outcomes
from jaxstage_ext.core.jax_private import module_lowering, persistent_cache
from jaxstage_ext.program.device import out_of_memory
from jaxstage_ext.program.device.device_fit import device_fit
from jaxstage_ext.program.device.target_title import platform
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.equation_lines import lines_of_primitive
from jaxstage_ext.program.questions.foreign_targets import unknown_target
from jaxstage_ext.report.errors import StageError


def cache_folder(program: Program, error: StageError) -> str | None:
    """Which folder of the persistent cache JAX cannot open; None for another error, or if JAX only warns of it."""
    if error.exception is None or not persistent_cache.failed_to_open(error.exception):
        return None
    return outcomes.not_opened(persistent_cache.state().set_folder)


_REFUSED = "Cannot apply JAX transformations to a function lowered and compiled"


def compiled_in_transformation(program: Program, error: StageError) -> str | None:
    """That an executable cannot be called where JAX traces; None for another error."""
    if _REFUSED not in error.message:
        return None
    return (
        "A Compiled is machine code for one signature: jit, grad and vmap cannot trace it. Call the function that it "
        "was compiled from, or call the Compiled outside of them."
    )


def out_of_device_memory(program: Program, error: StageError) -> str | None:
    """How much memory a program that the compiler refused needs, and where its buffers are listed.

    None for another error.
    """
    if not out_of_memory.is_out_of_memory(error.exception) or program.executable is not None:
        return None
    return f"{device_fit(program).text} {out_of_memory.LISTED}"


_NO_RULE = re.compile(r"MLIR translation rule for primitive '(\w+)' not found for platform (\w+)")
_ASKS_LIBRARY = re.compile(r"operation (cu[a-z]+)GetVersion\(.*failed")
_ASKING = "eig"
"""JAX chooses its implementation by the version of cuSOLVER."""
_MOST_NAMED = 3


def unlowered_primitive(program: Program, error: StageError) -> str | None:
    """Which operation, its lines, where it can be lowered, and what to do; None for another error."""
    if found := _NO_RULE.search(error.message):
        return _without_rule(program, found[1], found[2])
    if not program.target.is_local and (asked := _ASKS_LIBRARY.search(error.message)):
        return (
            f"Lowering {_ASKING}{_at(program, _ASKING)} for a GPU asks CUDA's {asked[1]} for its version, which needs "
            f"the GPU itself, and {program.target} is not in this machine. Inspect it for cpu:N, or where that GPU is."
        )
    return None


def _without_rule(program: Program, primitive: str, platform: str) -> str:
    known = module_lowering.platforms_of(primitive)
    only = f"only for {', '.join(known)}, " if known else ""
    what = f"JAX lowers {primitive}{_at(program, primitive)} {only}not for {platform}."
    if "cpu" not in known or platform == "cpu":
        return what
    return (
        f"{what} Compute it outside of this function, with its argument on the CPU: "
        "jax.device_put(x, jax.devices('cpu')[0]). Or inspect it for cpu:N."
    )


def _at(program: Program, primitive: str) -> str:
    lines = lines_of_primitive(program, primitive)
    return f" ({', '.join(lines[:_MOST_NAMED])}{', …' if len(lines) > _MOST_NAMED else ''})" if lines else ""


_UNREGISTERED = re.compile(
    r"No FFI handler registered|No registered implementation|not found|"
    r"a custom call that the compiler for|is registered with jax\.ffi in this kernel only",
    re.IGNORECASE,
)
"""How XLA and the worker say that they do not know a target; another error of a known one is its own."""


def unregistered_target(program: Program, error: StageError) -> str | None:
    """The FFI target that is not registered for the platform, its line and what registers it.

    None for another error.
    """
    traced = program.jax_traced
    if traced is None or program.jax_lowered is None or not _UNREGISTERED.search(error.message):
        return None
    if (found := unknown_target(traced, program.frame_table, error.message)) is None:
        return None
    target, span = found
    what = f"The FFI target {target!r}{f' ({span.label}:{span.line})' if span is not None else ''}"
    if not program.target.is_local:
        return (
            f"{what} is not known to the worker that compiles for {program.target}, which has JAX's own targets alone: "
            "leave the call out, or register it in this kernel and inspect it without a target."
        )
    where = platform(program)
    return (
        f"{what} is not registered for {where}: call jax.ffi.register_ffi_target({target!r}, ..., platform={where!r}) "
        "first, or check the name."
    )
