"""Compiles that XLA may not survive are tried in a worker before this process does them."""

from __future__ import annotations

from typing import Any

import jax

from jaxstage_ext.core.safety.crash_risk import crash_risk
from jaxstage_ext.core.stage.stageable import unwrap
from jaxstage_ext.core.stage.staged import LOWER, TRACE, Staged
from jaxstage_ext.core.targets import cross_compile
from jaxstage_ext.worker.request_errors import WorkerDied

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
