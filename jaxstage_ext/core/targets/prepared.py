"""A program as a compile worker takes it: bytecode, options, devices."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from jaxstage_ext.core import jax_private
from jaxstage_ext.core.options import autotune, build_options, file_options
from jaxstage_ext.core.targets import gpu_descriptions, packages, placement, worker_requests
from jaxstage_ext.core.targets.target import Target
from jaxstage_ext.core.targets.worker_requests import USUAL, Limits
from jaxstage_ext.report.progress import Progress
from jaxstage_ext.report.unavailable import Unavailable
from jaxstage_ext.store import cache
from jaxstage_ext.worker.process import READ_BY_XLA

_KERNEL = re.compile(rb"ipykernel_\d+")
_FILES = {autotune.LOAD, autotune.SAVE}


@dataclass(frozen=True)
class Prepared:
    """What to compile, for which target.

    Attributes:
      request: what a worker's `Compiler` takes as a program, but for the target: "module" is StableHLO bytecode,
        "options" a serialised CompileOptionsProto, "order" the ids of devices, "room" how many devices there are.
        "autotune", optional, is a file of autotune results.
      devices: how many of the target's it runs on.   notes: what is to be known about how it is compiled.
      overrides: the compile options that were set by name.
      results: the autotune results that it is compiled with.
    """

    target: Target
    request: Mapping[str, Any] = field(repr=False)
    devices: int
    notes: tuple[str, ...] = ()
    overrides: Mapping[str, Any] = field(default_factory=dict, repr=False)
    results: autotune.Results | None = None

    def key(self, *what: str) -> str | None:
        """The name, in the inspection cache, of what the worker makes of the program; `what` says of which part.

        None where it depends on files, or leaves some. The folder of a kernel's cells does not count, so that a
        cell that runs in a later kernel has the same key: see `anonymous`.
        """
        if self.results or file_options.names_files(self.overrides) or file_options.environment_names_files():
            return None
        flags = [os.environ.get(name, "") for name in READ_BY_XLA]
        target, request = self.target, self.request
        device = (target.platform, target.kind, target.topology, target.configuration)
        parts = (*device, str(request["room"]), str(request["order"]), *flags)
        return cache.key(
            *what, *parts, *packages.identity(target.platform), self.anonymous(request["module"]), request["options"]
        )

    def anonymous(self, data: bytes) -> bytes:
        """Bytes in which this kernel's folder of cells, "ipykernel_123", has the name it has in the cache."""
        name = self._kernel
        return data.replace(name, _nameless(name)) if name else data

    def ours(self, data: bytes) -> bytes:
        """`anonymous` undone, for this kernel."""
        name = self._kernel
        return data.replace(_nameless(name), name) if name else data

    @cached_property
    def _kernel(self) -> bytes:
        """The one folder of cells that the module's locations name; empty where there is none, or are several."""
        names = set(_KERNEL.findall(self.request["module"]))
        return names.pop() if len(names) == 1 else b""

    def ask(self, method: str, limits: Limits = USUAL, *, how: Mapping[str, Any] | None = None, **more: Any) -> Any:
        """What the worker's method makes of the program; `how` is lane, environment and progress of `pool.ask`."""
        how = {**(how or {}), **(autotune.HOW if self.results else {})}
        return worker_requests.ask(self.target, {"method": method, **self.request, **more}, limits, **how)

    def recompile(self, method: str, limits: Limits, progress: Progress | None = None, **more: Any) -> Any:
        """As `ask`, in the lane of what views ask for later; what `progress` raises ends the request."""
        return self.ask(method, limits, how={"lane": "recompile", "progress": progress}, **more)


def _nameless(kernel: bytes) -> bytes:
    return re.sub(rb"\d", b"0", kernel)


def prepare(lowered: Any, fn: Any, target: Target, limits: Limits, given: Mapping[str, Any]) -> Prepared:
    """What `fn` was lowered to, with the compile options `given`, for a target other than local.

    Raises Unavailable where its mesh is larger than the target, BuildOptionError where options contradict it.
    """
    placed, room = jax_private.placed(lowered, fn), target.devices or 0
    if placed.count > room:
        raise Unavailable(
            f"the program's mesh has {placed.count:,} devices, but {target} has {room:,}; use a smaller mesh or a "
            "larger target"
        )
    chosen = build_options.order(given, placed.count, room)
    order, note = (list(chosen), None) if chosen else placement.order(placed, target, limits)
    given = build_options.for_xla(given)
    given, results = _without_files(jax_private.own_options(lowered) | given, target)
    module, options = jax_private.compile_request(lowered, target.platform, order, given)
    request = {"room": room, "order": order, "module": module, "options": options, **_autotuned(results, target)}
    overrides = {name: value for name, value in given.items() if name not in _FILES}
    return Prepared(target, request, placed.count, (note,) if note else (), overrides, results)


def _without_files(given: Mapping[str, Any], target: Target) -> tuple[dict[str, Any], autotune.Results | None]:
    """The options without the files of autotune results, which the worker is handed instead, and those results."""
    load = given.get(autotune.LOAD) if target.platform == "cuda" else None
    return {**given, **dict.fromkeys(_FILES & given.keys(), "")}, autotune.read(load) if load else None


def _autotuned(results: autotune.Results | None, target: Target) -> dict[str, Any]:
    """What the request says of autotune results: to XLA a GPU with another cuDNN is another GPU."""
    if results is None:
        return {}
    request: dict[str, Any] = {"autotune": results.for_worker}
    if results.dnn_version and not gpu_descriptions.in_plugin(packages.find("cuda").version):
        request["kind"] = gpu_descriptions.description(target.kind, results.dnn_version)
    return request
