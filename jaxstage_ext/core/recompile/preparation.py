"""What the worker recompiles, so that passes, buffers and machine code are those of the program that is shown."""

from __future__ import annotations

import jax

from jaxstage_ext.core.given import lacking_stage
from jaxstage_ext.core.jax_private import jax_options
from jaxstage_ext.core.stage.stage_definition import COMPILE, LOWER
from jaxstage_ext.core.stage.stageable import unwrap
from jaxstage_ext.core.stage.staged import Staged
from jaxstage_ext.core.targets import cross_compile
from jaxstage_ext.core.targets.devices import KINDS
from jaxstage_ext.core.targets.prepared import Prepared, prepare
from jaxstage_ext.core.targets.target import Target
from jaxstage_ext.report.unavailable import Unavailable


def prepared(staged: Staged) -> Prepared:
    """The module, options, devices and environment of the compile stage, as a request to the worker.

    Raises Unavailable, with the reason, where the worker cannot compile it: nothing was lowered, the kernel's own
    device is not a CPU, or `jax.config` makes other compile options than it made then.
    """
    lowered = lowered_of(staged)
    if held := held_device(staged.target):
        raise Unavailable(held)
    target = cross_compile.isolated(staged.target)
    check_configured(staged)
    environment = staged.environment
    return prepare(lowered, staged.call.fn, target, staged.limits, staged.call.compiler_options, environment)


def lowered_of(staged: Staged) -> jax.stages.Lowered:
    """What JAX lowered. Raises Unavailable where it lowered nothing."""
    lowered = unwrap(staged.value(LOWER))
    if not isinstance(lowered, jax.stages.Lowered):
        raise Unavailable(
            lacking_stage.without_stablehlo(
                staged.call,
                "there is nothing to compile once more",
                "the program was not lowered by JAX, so there is nothing to recompile",
            )
        )
    return lowered


def worker_executable(staged: Staged) -> cross_compile.Executable | None:
    """What a worker compiled of a program; None where none did."""
    made = next((stage.value for stage in staged.stages if stage.name == COMPILE), None)
    return made if isinstance(made, cross_compile.Executable) else None


def held_device(target: Target) -> str:
    """Why the worker cannot compile for the devices of this kernel, and what to do; "" where it can."""
    if not target.is_local or jax.default_backend() == "cpu":
        return ""
    kind = jax.local_devices()[0].device_kind
    same = f": -t {KINDS[kind]}" if kind in KINDS and jax.default_backend() == "gpu" else ", such as -t h100"
    return (
        f"this kernel holds a {jax.default_backend()}, which a second process would disturb; inspect the function with "
        f"the same device as a target{same}"
    )


def check_configured(staged: Staged) -> None:
    """Raises Unavailable where `jax.config` makes other compile options than it made then."""
    then, now = staged.configured, jax_options.configured_options()
    if then is not None and then != now:
        changes = "; ".join(then.changes_to(now)) or "jax.config has other entries"
        raise Unavailable(
            f"jax.config changed since this was compiled ({changes}), so a recompile would be of another program; set "
            "it back, or inspect the function once more"
        )
