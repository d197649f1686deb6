"""An FFI target that is not registered for the platform, which XLA names without its line."""

from __future__ import annotations

import re

from jaxstage_ext.program.device.target_title import platform
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.foreign_targets import unknown_target
from jaxstage_ext.report.errors import StageError

_UNREGISTERED = re.compile(
    r"No FFI handler registered|No registered implementation|not found|"
    r"a custom call that the compiler for|is registered with jax\.ffi in this kernel only",
    re.IGNORECASE,
)
"""How XLA and the worker say that they do not know a target; another error of a known one is its own."""


def explanation(program: Program, error: StageError) -> str | None:
    """The target, its line and what registers it; None for another error."""
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
