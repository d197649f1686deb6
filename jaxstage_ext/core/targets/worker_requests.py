"""Requests to a target's worker, and its errors in the user's terms."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import jax

from jaxstage_ext.core.targets import environments, gpu_descriptions, packages
from jaxstage_ext.core.targets.target import TPUS, Target
from jaxstage_ext.report.text.typed_forms import typed
from jaxstage_ext.report.unavailable import Unavailable
from jaxstage_ext.worker.compile_environment import CompileEnvironment

_UNREGISTERED = re.compile(
    r"No (?:FFI handler|registered implementation)[^\n]{0,400}?"
    r"(?:for (?:(?:un)?typed )?(?:custom call to )?)([\w.$@\"]+)"
)
_HOST = re.compile(r'not divisible by [^"]{0,400}"([\dx]+)"')


@dataclass(frozen=True)
class Limits:
    """The limits of a compile in a worker: seconds, and bytes of memory (None: half of the machine's).

    `large_here` is whether this process compiles a large program too, which is otherwise left to a worker.
    """

    timeout: float = 600.0
    memory: int | None = None
    large_here: bool = False


USUAL = Limits()
_NEEDS_FRESH_PROCESS = "Failed to materialize symbols"
"""What a kernel of Mosaic GPU fails with in a process in which XLA has compiled another program for a GPU before."""


def ask(
    target: Target,
    request: dict[str, Any],
    limits: Limits = USUAL,
    environment: CompileEnvironment | None = None,
    **how: Any,
) -> Any:
    """The answer of the target's worker to a request that names its method; `how` is as in `pool.ask`.

    The worker is one of the environment; where that is None, of the one of this moment.

    Raises:
      Unavailable: where the target does not support the program, or its compiler is no longer that of the
        environment, with the reason.
      TargetError: where a package is missing, or jaxlib is no longer the one that this kernel has loaded.
      pool.WorkerDied: when the compiler crashed, exceeded its time limit or ran out of memory.
      jax.errors.JaxRuntimeError: XLA's own error.
      OSError: where what XLA dumps is not whole, with what to do.
    """
    from jaxstage_ext.worker import pool  # it needs Unix

    compiler = packages.compiler_for(target)
    environments.check_jaxlib()
    environment = environment or environments.taken(target.platform)
    if change := environments.change(environment, target.platform):
        raise Unavailable(f"{change} since this program was compiled; run its cell again")
    where = {
        "platform": target.platform,
        "library": compiler.library,
        "kind": _kind(target, compiler.version),
        "topology": target.topology,
    }
    lane, arguments = how.get("lane", pool.COMPILE), (where | request, limits.timeout, limits.memory)
    try:
        try:
            answer = pool.ask(target.platform, *arguments, environment=environment, **how)
        except pool.RequestFailed as failed:
            if _NEEDS_FRESH_PROCESS not in str(failed):
                raise
            pool.restart(target.platform, lane)
            answer = pool.ask(target.platform, *arguments, environment=environment, **how)
    except pool.RequestFailed as failed:
        raise _explained(failed, target) from None
    if change := environments.change(environment, target.platform):
        pool.stop(target.platform, lane)  # it may have read either
        raise Unavailable(f"{change} while this program was compiled; run its cell again")
    return answer


def _kind(target: Target, plugin: str) -> str:
    """What the worker takes for the device beside its topology: a GPU's name or description, a TPU's configuration."""
    if target.platform == "cuda":
        return gpu_descriptions.name_or_description(target.kind, plugin)
    return target.configuration


def _explained(failed: Any, target: Target) -> Exception:
    text = str(failed)
    if unregistered := _UNREGISTERED.search(text):
        name = unregistered[1].strip('"')
        return Unavailable(
            f"the program calls {name}, a custom call that the compiler for {target} does not have; what jax.ffi "
            "registers, it registers in one process, and a worker compiles this"
        )
    if failed.type == "KeyError" and target.platform == "cuda":
        version = packages.find("cuda").version
        return Unavailable(f"the installed CUDA plugin {version} does not support {target.kind}; JAX 0.12's does")
    if hosts := _HOST.search(text):
        return Unavailable(
            f"the installed libtpu {packages.find('tpu').version} builds {target.kind} from hosts of {hosts[1]} chips, "
            f"and {target} is not a multiple of that; use for example {TPUS[target.kind]}"
        )
    if "Invalid TPU external name" in text:
        version = packages.find("tpu").version
        return Unavailable(
            f"the installed libtpu {version} does not support {target.kind}"
            f"{typed('; %targets lists what it supports', '')}"
        )
    if failed.type == "DumpCut":
        return OSError(text)
    kind = jax.errors.JaxRuntimeError if failed.type in ("JaxRuntimeError", "XlaRuntimeError") else RuntimeError
    if failed.type == "MemoryError":
        kind = MemoryError
    return kind(text)
