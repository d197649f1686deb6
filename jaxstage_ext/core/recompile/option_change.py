"""A staged call with other compile options: traced and lowered as it was, to be compiled in a worker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from jaxstage_ext.core.stage.stage_definition import COMPILE, LOWER, TRACE
from jaxstage_ext.core.stage.staged import Stage, Staged
from jaxstage_ext.core.targets import cross_compile
from jaxstage_ext.report.unavailable import Unavailable


def with_options(staged: Staged, options: Mapping[str, Any], seconds: float | None = None) -> Staged:
    """The same lowered call with these options on top of its own, whose compile may take so many seconds.

    Raises:
      Unavailable: where nothing was lowered.
      TargetError: where the kernel holds the accelerator that it would be compiled for.
    """
    if staged.value(LOWER) is None:
        raise Unavailable("the call was not lowered, so there is nothing to compile with other options")
    limits = staged.limits
    if seconds is not None:
        limits = replace(limits, timeout=min(limits.timeout, seconds))
    before = [stage for stage in staged.stages if stage.name in (TRACE, LOWER)]
    return Staged(
        replace(staged.call, compiler_options={**(staged.call.compiler_options or {}), **options}),
        [*before, Stage(COMPILE)],
        cross_compile.isolated(staged.target),
        limits,
        label=staged.label,
        configured=staged.configured,
        sources=staged.sources,
    )
