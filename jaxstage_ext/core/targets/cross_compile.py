"""Cross-compilation, for devices that this machine does not have: JAX lowers here, XLA compiles in a worker."""

from __future__ import annotations

import hashlib
import re
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from math import inf
from types import SimpleNamespace
from typing import Any

import jax

from jaxstage_ext.core.jax_private import triton_kernels
from jaxstage_ext.core.jax_private.given_layouts import explicit_layouts_kept
from jaxstage_ext.core.jax_private.mosaic_dumps import without_dumps
from jaxstage_ext.core.options import autotune
from jaxstage_ext.core.targets import packages
from jaxstage_ext.core.targets.catalogue import CATALOGUE
from jaxstage_ext.core.targets.prepared import Prepared, check_files, prepare
from jaxstage_ext.core.targets.target import Target, TargetError
from jaxstage_ext.core.targets.worker_requests import Limits
from jaxstage_ext.ir.hlo import whole_module
from jaxstage_ext.report.unavailable import Unavailable
from jaxstage_ext.store import cache
from jaxstage_ext.worker.compile_environment import CompileEnvironment

_CALLBACK = "is different from the lowering platform"
_LIBRARY_CALL = re.compile(r'custom_call_target="([^"]+)"')
_PARTS = ("text", "proto")
_HEAD = {"seconds", "cost", "memory", "absent"}
_NO_GPU = ("No supported GPU devices found", "Unknown backend")
_without_dumps: weakref.WeakKeyDictionary[Any, tuple[str, ...]] = weakref.WeakKeyDictionary()
"""The kernels of a lowered function whose on-device profile is not dumped, unlike where the kernel runs."""


@dataclass(frozen=True)
class Executable:
    """The result of a compile in a worker: an optimised module that cannot be run here."""

    target: Target
    text: str | None = field(repr=False)
    """The module's text without metadata; None where the compiler gives none."""
    proto: bytes | None = field(repr=False)
    """The module as a serialized HloModuleProto; None where the compiler gives none."""
    seconds: float
    """The time of XLA's compile alone."""
    devices: int
    """The number of the target's devices that it runs on."""
    notes: tuple[str, ...]
    """Remarks about how it was compiled."""
    cost: tuple[Mapping[str, float] | None, str | None] = field(repr=False)
    memory: tuple[Mapping[str, int] | None, str | None] = field(repr=False)
    key: str | None = None
    """Its key in the inspection cache; None where it cannot be cached."""
    kept: bool = False
    """Whether it came from the inspection cache."""
    process: int | None = None
    """The other process of this process's job that had it compiled; None where none had."""
    tuned: autotune.Tuned | None = None
    """Which of its choices autotune results decided."""
    version: str = ""
    """That of libtpu or of the CUDA plugin."""
    options: bytes = field(default=b"", repr=False)
    """The serialised CompileOptionsProto that XLA was given."""
    assigned: bytes | None = field(default=None, repr=False)
    """The serialised HloProto with its buffer assignment, where the compile gave it and no cache keeps it."""
    schedule: Mapping[str, Any] | None = field(default=None, repr=False)
    """The schedule that XLA predicted, as the worker gives it, where the compile gave it and no cache keeps it."""

    def as_text(self) -> str | None:
        return self.text

    def cost_analysis(self) -> Mapping[str, float] | None:
        """XLA's cost analysis, as of `jax.stages.Compiled`. Raises Unavailable with the reason where there is none."""
        value, reason = self.cost
        if reason:
            raise Unavailable(reason)
        return value

    def memory_analysis(self) -> Any:
        """XLA's memory statistics as attributes. Raises Unavailable with the reason where there are none."""
        value, reason = self.memory
        if reason or value is None:
            raise Unavailable(reason or "the compiler gives none")
        return SimpleNamespace(**value)


def check(target: Target) -> None:
    """Raise TargetError, in one line, where a package for the target is missing."""
    if target.platform in ("tpu", "cuda"):
        packages.compiler_for(target)


def isolated(target: Target) -> Target:
    """The target with its compile moved to a worker. Raises TargetError where the kernel uses an accelerator."""
    if not target.is_local:
        return target
    platform = jax.default_backend()
    if platform != "cpu":
        raise TargetError(
            f"--isolate works on the CPU only: this kernel holds a {platform}, which a second process would disturb"
        )
    return here(target)


def here(target: Target) -> Target:
    """The kernel's own devices, as a target for cross-compilation."""
    platform = jax.default_backend()
    return Target(target.name, "cuda" if platform == "gpu" else platform, chips=jax.device_count())


def platform_of(target: Target) -> str:
    """The platform that JAX lowers for, "cpu", "cuda" or "tpu", also of the kernel's own devices."""
    return (here(target) if target.is_local else target).platform


def lower(traced: Any, target: Target) -> Any:
    """The `jax.stages.Lowered` of a trace for the target's platform, without its devices."""
    if not isinstance(traced, jax.stages.Traced):
        raise Unavailable(f"{target} needs JAX's own trace of the function, but the function has none")
    try:
        device = CATALOGUE.get(target.kind)
        gpu = device.gpu if device else None
        triton = triton_kernels.lowered_for(gpu and gpu.capability)
        with without_dumps() as kernels, triton as how, explicit_layouts_kept():
            lowered = traced.lower(lowering_platforms=(target.platform,), **how)
        if kernels:
            _without_dumps[lowered] = tuple(kernels)
        return lowered
    except (ValueError, RuntimeError) as error:
        if any(words in str(error) for words in _NO_GPU):
            raise Unavailable(
                f"lowering this program needs the device itself, as Pallas kernels for GPUs do, but {target} is not in "
                "this machine; leave the kernel out"
            ) from error
        if _CALLBACK not in str(error):
            raise
        raise Unavailable(
            "the program calls back into Python (jax.debug.print, pure_callback or io_callback), which JAX lowers only "
            f"for this machine's own devices, not for {target}; cpu:N compiles it"
        ) from error


def compile(  # noqa: A001
    lowered: Any,
    fn: Any,
    target: Target,
    limits: Limits,
    large_constants: bool,
    given: Mapping[str, Any],
    environment: CompileEnvironment | None = None,
) -> Executable:
    """Compile a lowered function in a worker, in an environment, or in that of this moment.

    Raises:
      Unavailable: where the target does not support the program, with the reason.
      TargetError: where a package is missing.
      FileOptionError: where an option names a file that does not exist.
      pool.WorkerDied: when XLA crashed, exceeded its time limit or ran out of memory.
      jax.errors.JaxRuntimeError: XLA's own error.
    """
    check_files(lowered, target, given)
    prepared = prepare(lowered, fn, target, limits, given, environment)
    asked = key = prepared.key("compile", str(large_constants))

    def ask() -> dict[str, Any]:
        nonlocal key
        made: dict[str, Any] = prepared.ask("compile", limits, large_constants=large_constants)
        key = key if _keep(key, prepared, made) else None
        return made

    result, kept = cache.once(asked, lambda: _known(asked, prepared), ask, patience=limits.timeout)
    maker = cache.maker(key) if kept and key else None
    assigned = result.pop("assigned", None)
    if assigned is not None and keep_assignment(prepared, assigned, result["memory"][0]):
        assigned = None
    schedule = result.pop("schedule", None)
    if schedule is not None and keep_schedule(prepared, schedule, result["text"]):
        schedule = None
    notes = (*prepared.notes, *_dump_notes(lowered), *filter(None, [cache.trouble()]))
    log = result.pop("autotuned", None)
    tuned = autotune.tuned(prepared.results, log) if prepared.results and log else None
    result = _without_false_costs(result, target)
    return Executable(
        target,
        devices=prepared.devices,
        notes=notes,
        key=key,
        kept=kept,
        process=maker.of_job if maker is not None else None,
        tuned=tuned,
        version=packages.find(target.platform).version,
        options=prepared.request["options"],
        assigned=assigned,
        schedule=schedule,
        **result,
    )


def keep_assignment(
    prepared: Prepared, proto: bytes, stats: Mapping[str, int] | None, error: str | None = None
) -> bool:
    """Whether the inspection cache keeps a buffer assignment, with XLA's statistics, under the program's key."""
    head, key = {"stats": dict(stats or {}), "error": error}, prepared.key("memory")
    return prepared.store(key, head, prepared.anonymous(proto)) and cache.get(key or "") is not None


def keep_schedule(prepared: Prepared, made: Mapping[str, Any], text: str | None) -> bool:
    """Whether the inspection cache keeps the schedule that XLA predicted of the module with this text."""
    head = {"bytes": made["bytes"], "log": made["log"], "absent": made["schedule"] is None, "module": digest(text)}
    key = prepared.key("schedule")
    return prepared.store(key, head, made["schedule"] or b"") and cache.get(key or "") is not None


def digest(text: str | None) -> str:
    """Of a module's text, as the worker computes it."""
    return hashlib.sha256((text or "").encode("utf-8", "replace")).hexdigest()


def _dump_notes(lowered: Any) -> list[str]:
    kernels = ", ".join(dict.fromkeys(_without_dumps.get(lowered, ())))
    return [f"Left out: the callback that writes the on-device profile of {kernels}."] if kernels else []


def _known(key: str | None, prepared: Prepared) -> dict[str, Any] | None:
    """The worker's answer in the inspection cache; None where there is none."""
    return cache.load(key, partial(_read, prepared)) if key else None


def _read(prepared: Prepared, head: dict[str, Any], parts: list[bytes]) -> dict[str, Any]:
    """The answer that `_keep` made an entry of. Raises for anything else."""
    absent = head.pop("absent")
    seconds = head["seconds"]
    if head.keys() | {"absent"} != _HEAD or type(seconds) not in (int, float) or not 0 <= seconds < inf:
        raise ValueError("not the head of a compile")
    if absent != [name for name, part in zip(_PARTS, parts, strict=True) if not part]:
        raise ValueError(f"{absent} are absent, and {len(parts)} parts are there")
    text, proto = (prepared.ours(part) if part else None for part in parts)
    if proto is not None:
        whole_module.check(proto, (text or b"").decode())
    read: dict[str, Any] = {"seconds": seconds, "text": text.decode() if text else None, "proto": proto}
    return read | {"cost": _analysis(head["cost"], float, int), "memory": _analysis(head["memory"], int)}


def _analysis(given: Any, *kinds: type) -> tuple[dict[str, Any] | None, str | None]:
    """XLA's figures by name, or why there are none. Raises ValueError for anything else."""
    values, reason = given
    if values is not None and (type(values) is not dict or not {*map(type, values.values())} <= {*kinds}):
        raise ValueError("not the figures of an analysis")
    if not isinstance(reason, str | None):
        raise ValueError(f"{reason!r} is not why there are no figures")
    return values, reason


def _keep(key: str | None, prepared: Prepared, result: Mapping[str, Any]) -> bool:
    """Whether the key is that of the result, which the inspection cache then keeps."""
    parts = ((result["text"] or "").encode(), result["proto"] or b"")
    head = {name: result[name] for name in _HEAD if name in result}
    head["absent"] = [name for name, part in zip(_PARTS, parts, strict=True) if not part]
    return prepared.store(key, head, *map(prepared.anonymous, parts))


def _without_false_costs(result: dict[str, Any], target: Target) -> dict[str, Any]:
    """The result without a cost analysis that leaves out library calls, in which XLA counts no FLOPs."""
    cost, _ = result["cost"]
    if target.platform == "cuda" and cost is not None and (call := _LIBRARY_CALL.search(result["text"] or "")):
        reason = f"XLA counts nothing inside library calls such as {call[1]}"
        return result | {"cost": (None, reason)}
    return result
