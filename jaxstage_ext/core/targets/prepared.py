"""A program as a compile worker takes it: bytecode, options, devices."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from jaxstage_ext.core.cell_folders import CellFolder
from jaxstage_ext.core.jax_private import given_objects, lowered_modules, module_lowering
from jaxstage_ext.core.options import autotune, build_options, file_options
from jaxstage_ext.core.targets import environments, gpu_descriptions, packages, placement, worker_requests
from jaxstage_ext.core.targets.target import Target
from jaxstage_ext.core.targets.worker_requests import USUAL, Limits
from jaxstage_ext.ir import parse_errors
from jaxstage_ext.report.progress import Progress
from jaxstage_ext.report.unavailable import Unavailable
from jaxstage_ext.store import cache
from jaxstage_ext.worker.compile_environment import CompileEnvironment
from jaxstage_ext.worker.request_errors import WorkerDied

Value = TypeVar("Value")


@dataclass(frozen=True)
class Prepared:
    """What to compile, for which target."""

    target: Target
    request: Mapping[str, Any] = field(repr=False)
    """What a worker's `Compiler` takes as a program, but for the target: "module" is StableHLO bytecode, "options" a
    serialised CompileOptionsProto, "order" the ids of devices, "room" how many devices there are. "autotune", optional,
    is a file of autotune results."""
    devices: int
    """How many of the target's it runs on."""
    environment: CompileEnvironment = field(repr=False)
    """What it is compiled in, whatever this process's environment has become since."""
    notes: tuple[str, ...] = ()
    """What is to be known about how it is compiled."""
    overrides: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """The compile options that were set by name."""
    results: autotune.Results | None = None
    """The autotune results that it is compiled with."""
    is_of_file: bool = False
    """Whether it is a module out of a file."""

    def key(self, *what: str) -> str | None:
        """The name, in the inspection cache, of what the worker makes of the program; `what` says of which part.

        None where it depends on files, or leaves some. The folder of a kernel's cells does not count, so that a
        cell that runs in a later kernel has the same key: see `anonymous`.
        """
        if self.results or file_options.names_files(self.overrides):
            return None
        target, request = self.target, self.request
        device = (target.platform, target.kind, target.topology, target.configuration)
        parts = (*device, str(request["room"]), str(request["order"]), self.anonymous(request["module"]))
        return environments.key(self.environment, *what, *parts, request["options"])

    def store(self, key: str | None, head: Mapping[str, Any], *parts: bytes) -> bool:
        """Keep a worker's answer under a `key` of this program, which may be None; see `environments.store`."""
        return environments.store(key, self.environment, self.target.platform, head, *parts)

    def once(
        self,
        key: str | None,
        read: Callable[[dict[str, Any], list[bytes]], Value],
        make: Callable[[], Value],
        limits: Limits,
        progress: Progress | None = None,
    ) -> tuple[Value, bool]:
        """What `read` makes of an entry of the inspection cache, else what `make` makes and stores; and which.

        Only one of the processes and threads that want it makes it: see `cache.once`.
        """
        waiting = (lambda seconds: progress(seconds, None)) if progress is not None else None
        return cache.once(key, lambda: cache.load(key, read) if key else None, make, waiting, limits.timeout)

    def anonymous(self, data: bytes) -> bytes:
        """Bytes in which this kernel's folder of cells, "ipykernel_123", has the name it has in the cache."""
        return self._cells.anonymous(data)

    def ours(self, data: bytes) -> bytes:
        """`anonymous` undone, for this kernel."""
        return self._cells.ours(data)

    @cached_property
    def _cells(self) -> CellFolder:
        return CellFolder.of(self.request["module"])

    def ask(self, method: str, limits: Limits = USUAL, *, how: Mapping[str, Any] | None = None, **more: Any) -> Any:
        """What the worker's method makes of the program; `how` is lane, variables and progress of `pool.ask`."""
        how = {**(how or {}), **(autotune.HOW if self.results else {})}
        request = {"method": method, **self.request, **more}
        return worker_requests.ask(self.target, request, limits, self.environment, **how)

    def recompile(self, method: str, limits: Limits, progress: Progress | None = None, **more: Any) -> Any:
        """As `ask`, in the lane of what views ask for later; what `progress` raises ends the request.

        What XLA refuses of a module out of a file, which it may have never compiled, is Unavailable.
        """
        try:
            return self.ask(method, limits, how={"lane": "recompile", "progress": progress}, **more)
        except RuntimeError as error:
            if not self.is_of_file or isinstance(error, WorkerDied):
                raise
            why = parse_errors.one_line(str(error))
            raise Unavailable(f"XLA does not compile it for {self.target}: {why}") from None


def prepare(
    lowered: Any,
    fn: Any,
    target: Target,
    limits: Limits,
    given: Mapping[str, Any],
    environment: CompileEnvironment | None = None,
) -> Prepared:
    """What `fn` was lowered to, with the compile options `given`, for a target other than local.

    It is for the environment of an earlier compile, or for that of this moment.
    Raises Unavailable where its mesh is larger than the target, or a file that its options name is no longer that of
    the environment; BuildOptionError where options contradict it.
    """
    environment = environment or environment_of(lowered, target, given)
    placed, room = lowered_modules.placed(lowered, fn), target.devices or 0
    _check_platform(lowered, target)
    is_of_file = module_lowering.written_module(lowered) is not None
    placement.check(placed, target, is_of_file)
    chosen = build_options.order(given, placed.count, room)
    order, note = (list(chosen), None) if chosen else placement.order(placed, target, limits, environment)
    given, results = _without_files(_options(lowered, given), target)
    module, options = lowered_modules.compile_request(lowered, target.platform, order, given)
    request = {"room": room, "order": order, "module": module, "options": options, **_autotuned(results, target)}
    overrides = {name: value for name, value in given.items() if name not in autotune.FILES}
    notes = (note,) if note else ()
    return Prepared(target, request, placed.count, environment, notes, overrides, results, is_of_file)


def _check_platform(lowered: Any, target: Target) -> None:
    """Raise Unavailable where it was lowered for other platforms, as what a file holds may be that is only shown."""
    written = module_lowering.written_module(lowered)
    if written is not None and written.platform and written.platform != target.platform:
        raise Unavailable(
            f"it calls libraries that {written.platform} has, and {target.platform} has not; name a target of its own"
        )
    platforms = given_objects.platforms(lowered)
    if platforms and target.platform not in platforms:
        raise Unavailable(
            f"it is lowered for {' and '.join(platforms)}, not for {target.platform}; name a target of its own"
        )


def environment_of(lowered: Any, target: Target, given: Mapping[str, Any]) -> CompileEnvironment:
    """The environment of a compile that begins now, with the options `given`."""
    return environments.taken(target.platform, _options(lowered, given))


def check_files(lowered: Any, target: Target, given: Mapping[str, Any]) -> None:
    """Raise FileOptionError where an option, given here, to `jax.jit` or in XLA_FLAGS, names a file that is missing."""
    file_options.check_readable(_options(lowered, given), target.platform)


def _options(lowered: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """The function's own options, above them those `given`, below them the files of XLA_FLAGS; paths are absolute."""
    own = {**file_options.of_process(), **lowered_modules.own_options(lowered)}
    return file_options.absolute(own | build_options.for_xla(given))


def _without_files(given: Mapping[str, Any], target: Target) -> tuple[dict[str, Any], autotune.Results | None]:
    """The options without the files of autotune results, which the worker is handed instead, and those results."""
    load = given.get(autotune.LOAD) if target.platform == "cuda" else None
    return {**given, **dict.fromkeys(autotune.FILES & given.keys(), "")}, autotune.read(load) if load else None


def _autotuned(results: autotune.Results | None, target: Target) -> dict[str, Any]:
    """What the request says of autotune results: to XLA a GPU with another cuDNN is another GPU."""
    if results is None:
        return {}
    request: dict[str, Any] = {"autotune": results.for_worker}
    if results.dnn_version and not gpu_descriptions.in_plugin(packages.find("cuda").version):
        request["kind"] = gpu_descriptions.description(target.kind, results.dnn_version)
    return request


def start(targets: Sequence[Target]) -> None:
    """Start the worker of the first target that needs one; what is wrong with it, the request that needs it says.

    Not where a folder may have the answer. A worker that runs, in whichever environment, stays.
    """
    first = next((target for target in targets if not target.is_local), None)
    if first is None or cache.has_folder():
        return
    with contextlib.suppress(Exception):
        from jaxstage_ext.worker import pool  # it needs Unix

        if not pool.has_worker(first.platform):
            pool.start(first.platform, environments.taken(first.platform, file_options.of_process()))
