"""Whether a worker compiles for the kernel's own devices, so that XLA's memory cannot take the kernel with it."""

from __future__ import annotations

import jax

from jaxstage_ext.core.jax_private import lowered_modules
from jaxstage_ext.core.safety.large_program import LargeProgram
from jaxstage_ext.core.stage.stageable import unwrap
from jaxstage_ext.core.stage.staged import LOWER, Staged
from jaxstage_ext.report import kernel_settings
from jaxstage_ext.worker import memory_limit


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
