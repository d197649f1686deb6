"""What runs inside the compile worker: requests in, artefacts out. Imports jaxlib alone, not jax; of ours, for a look.

It is started by path, talks through the pipes it was born with (eight bytes of length, then a pickle, between
processes of the same user and program), and may die at any time: XLA aborts, crashes, hangs and eats memory.
Whatever is printed, by Python or C++, goes to its standard error, which is its log.
"""

from __future__ import annotations

import contextlib
import functools
import mmap
import os
import pickle
import queue
import re
import resource
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

IDLE = 75
"""Exit status of a worker that nobody asked for so long that it left."""
LARGEST_FILE = 8 << 30
DUMP = "dump-"
"""How the folders begin that XLA dumps into."""
_LOOKED_UP = re.compile(r"cache stats: hits=(\d+), misses=(\d+)")
_TUNED_FOR = re.compile(r"Device fingerprint: (\w+) from|key = <key model='([^']*)'")
_GPU_SPEC = re.compile(rb"gpu_device_info \{")


def main(idle: float) -> None:
    """Answer requests until the other end closes or nothing comes for `idle` seconds."""
    replies, requests = os.fdopen(os.dup(1), "wb"), os.fdopen(os.dup(0), "rb")
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_FSIZE, LARGEST_FILE)
    inbox: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(requests, inbox), daemon=True).start()
    compiler = Compiler()
    while True:
        try:
            request = inbox.get(timeout=idle)
        except queue.Empty:
            os._exit(IDLE)
        data = pickle.dumps(_answer(compiler, request), pickle.HIGHEST_PROTOCOL)
        replies.write(len(data).to_bytes(8, "little"))
        replies.write(data)
        replies.flush()
        if compiler.leaving:
            os._exit(IDLE)


def _limit(what: int, most: int) -> None:
    with contextlib.suppress(ValueError, OSError):
        hard = resource.getrlimit(what)[1]
        resource.setrlimit(what, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _receive(requests: Any, inbox: queue.SimpleQueue[dict[str, Any]]) -> None:
    """Hand requests on; when the kernel is gone, also in the middle of a compile, take the folder along and go."""
    while len(head := requests.read(8)) == 8:
        inbox.put(pickle.loads(requests.read(int.from_bytes(head, "little"))))
    shutil.rmtree(os.getcwd(), ignore_errors=True)
    os._exit(0)


def _answer(compiler: Compiler, request: dict[str, Any]) -> dict[str, Any]:
    try:
        method = getattr(compiler, request.pop("method"))
        return {"result": method(**request)}
    except Exception as error:
        return {"error": (type(error).__name__, str(error))}


class Dumped(NamedTuple):
    """A compile and what it dumped. `executable` and `seconds` are None where it failed with `error`."""

    folder: Path
    executable: Any
    seconds: float | None
    error: Exception | None


class Compiler:
    """The methods that a request may name. Clients and topologies are made on first need and kept.

    Once `leaving` is set the process ends after its answer.
    """

    def __init__(self) -> None:
        started = time.perf_counter()
        from jaxlib import _hlo, _jax, xla_client  # type: ignore[attr-defined, unused-ignore]

        self._hlo, self._jax, self._xla = _hlo, _jax, xla_client
        self._clients: dict[int, Any] = {}
        self._devices: dict[tuple[str, str], list[Any]] = {}
        self._plugins: dict[str, Any] = {}
        self._specs: dict[str, str] = {}
        self._seconds = time.perf_counter() - started
        self.leaving = False

    def ping(self) -> dict[str, Any]:
        """What runs here, and how long jaxlib took to load."""
        return {"pid": os.getpid(), "jax": "jax" in sys.modules, "seconds": self._seconds}

    def topologies(self, platform: str, library: str, names: list[str]) -> dict[str, int | str]:
        """How many devices each topology has; for one that the plugin rejects, why."""
        found: dict[str, int | str] = {}
        for name in names:
            try:
                found[name] = len(self._absent_devices(platform, library, "", name))
            except Exception as error:
                found[name] = str(error)
        return found

    def devices(self, platform: str, library: str, kind: str, topology: str) -> list[dict[str, Any]]:
        """What JAX lays a mesh out by, of each device of a topology, by id."""
        names = ("id", "process_index", "device_kind", "platform", "coords", "core_on_chip")
        return [
            {name: getattr(device, name, None) for name in names}
            for device in self._absent_devices(platform, library, kind, topology)
        ]

    def compile(self, large_constants: bool, **program: Any) -> dict[str, Any]:
        """Compile StableHLO bytecode: text and proto of the optimised module, analyses, seconds of the compile."""
        executable, seconds = self._compiled(**program)
        tuned = {"autotuned": autotuned(Path("log").read_text(errors="replace"))} if program.get("autotune") else {}
        return {"seconds": seconds} | tuned | self._artefacts(executable, program["platform"], large_constants)

    def kernels(self, wanted: str, large_constants: bool, tries: int, **program: Any) -> tuple[Any, bool]:
        """(machine code of each kernel as `core.dumps` finds it, whether it is of the module whose digest is `wanted`).

        XLA's GPU compiler does not always give the same module for the same program, so it is tried `tries` times.
        """
        from jaxstage_ext.worker.inside import kernel_dump

        for left in reversed(range(tries)):
            with self._compiled_with_dump(program, kernel_dump.FLAGS) as dumped:
                if dumped.error is not None:
                    raise dumped.error
                same = kernel_dump.digest(self._text(dumped.executable, large_constants) or "") == wanted
                if same or not left:
                    return kernel_dump.read(dumped.folder), same
        raise ValueError(f"tries must be at least 1, not {tries}")

    def bundles(self, **program: Any) -> list[tuple[str, bytes]]:
        """What libtpu makes of each part of a program, in a process with the environment of `core.bundles`."""
        from jaxstage_ext.worker.inside import bundles

        with bundles.kept(Path.cwd()) as found:
            self._compiled(**program)
        return found

    def machine(self, tool: str, platform: str, library: str, kind: str, topology: str, **what: Any) -> Any:
        """What a function of `core.assemble` or `core.mosaic` says; the target does not matter to it."""
        from jaxstage_ext.worker.inside import disassemble, mosaic

        return {**vars(disassemble), "mosaic": mosaic.text}[tool](**what)

    def _compiled(
        self,
        platform: str,
        library: str,
        kind: str,
        topology: str,
        room: int,
        order: list[int],
        module: bytes,
        options: bytes,
        flags: Mapping[str, Any] = MappingProxyType({}),
        autotune: tuple[str, bytes] | None = None,
    ) -> tuple[Any, float]:
        """(executable, seconds of the compile); `flags` are XLA's, above those in `options`.

        `autotune` is the name and the bytes of a file of autotune results.
        """
        if autotune:
            file = Path(autotune[0]).absolute()
            file.write_bytes(autotune[1])
            flags = {**flags, "xla_gpu_load_autotune_results_from": str(file)}
        compile_options = self._xla.CompileOptions.ParseFromString(options)
        compile_options.env_option_overrides = [*compile_options.env_option_overrides, *flags.items()]
        if platform == "cpu":
            client, source = self._cpu_client(room), module
            every, compiler = client.local_devices(), client.compile_and_load
        else:
            every, source = self._absent_devices(platform, library, kind, topology), self._parsed(module)
            compiler = every[0].client.compile
        chosen = tuple(every[i] for i in order)
        started = time.perf_counter()
        executable = compiler(source, executable_devices=self._jax.DeviceList(chosen), compile_options=compile_options)
        return executable, time.perf_counter() - started

    @contextlib.contextmanager
    def _compiled_with_dump(self, program: Mapping[str, Any], flags: Mapping[str, Any]) -> Iterator[Dumped]:
        """Compile with these flags and everything that XLA dumps in a folder, which goes when the block ends.

        What XLA wrote before it failed is there too; the error is for the caller to raise.
        """
        folder = Path(tempfile.mkdtemp(prefix=DUMP, dir=os.getcwd()))
        executable, seconds, error = None, None, None
        try:
            try:
                executable, seconds = self._compiled(**program, flags={"xla_dump_to": str(folder), **flags})
            except Exception as raised:
                error = raised
            yield Dumped(folder, executable, seconds, error)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def passes(self, **program: Any) -> dict[str, Any]:
        """The pipeline's passes; see `pass_dump.collect`. A GPU's kernels, which take far longer, are not awaited."""
        from jaxstage_ext.worker.inside import pass_dump

        folder = Path(tempfile.mkdtemp(prefix=DUMP, dir=os.getcwd()))
        early = program["platform"] == "cuda"
        found = pass_dump.collect(lambda flags: self._compiled(**program, flags=flags), folder, early)
        self.leaving = found["running"]
        return found

    def propagation(self, **program: Any) -> dict[str, Any]:
        """The module as the partitioner gets it; see `propagation_dump.collect`."""
        from jaxstage_ext.worker.inside import propagation_dump

        folder = Path(tempfile.mkdtemp(prefix=DUMP, dir=os.getcwd()))
        found = propagation_dump.collect(lambda flags: self._compiled(**program, flags=flags), folder)
        self.leaving = found["running"]
        return found

    def memory(self, **program: Any) -> dict[str, Any]:
        """The buffer assignment of a program, what XLA says of its memory, and the error of one that did not fit."""
        from jaxstage_ext.worker.inside import buffer_dump

        with self._compiled_with_dump(program, buffer_dump.FLAGS) as dumped:
            module = next(iter(dumped.executable.hlo_modules()), None) if dumped.executable else None
            try:
                proto = buffer_dump.read(dumped.folder, getattr(module, "name", None))
            except buffer_dump.NoAssignment as none:
                raise (dumped.error or none) from None
            stats = _asked(lambda: _numbers(dumped.executable.get_compiled_memory_stats()))[0]
            return {"proto": proto, "stats": stats or {}, "error": dumped.error and str(dumped.error)}

    def _artefacts(self, executable: Any, platform: str, large_constants: bool) -> dict[str, Any]:
        module = next(iter(executable.hlo_modules()), None)
        return {
            "text": self._text(executable, large_constants),
            "proto": None if module is None else module.as_serialized_hlo_module_proto(),
            "cost": _asked(lambda: self._costs(executable, module, platform)),
            "memory": _asked(lambda: _numbers(executable.get_compiled_memory_stats())),
        }

    def _text(self, executable: Any, large_constants: bool) -> str | None:
        printing = self._hlo.HloPrintOptions()
        printing.print_metadata = False
        printing.print_large_constants = large_constants
        module = next(iter(executable.hlo_modules()), None)
        return None if module is None else str(module.to_string(printing))

    def _costs(self, executable: Any, module: Any, platform: str) -> Any:
        if platform != "cuda":
            return executable.cost_analysis()
        return self._jax.hlo_module_cost_analysis(self._cpu_client(1), module)

    def _cpu_client(self, devices: int) -> Any:
        if devices not in self._clients:
            if not self._clients:
                self._register_cpu_calls()
            while len(self._clients) > 2:
                self._clients.pop(next(iter(self._clients)))
            self._clients[devices] = self._xla.make_cpu_client(num_devices=devices)
        return self._clients[devices]

    def _register_cpu_calls(self) -> None:
        """What JAX registers when it is imported: without LAPACK's handlers svd and solve do not compile."""
        from jaxlib import cpu_sparse, lapack

        for library in (lapack, cpu_sparse):
            for name, handler, version in library.registrations()["cpu"]:
                self._xla.register_custom_call_target(name, handler, platform="cpu", api_version=version)
        for name in lapack.batch_partitionable_targets():
            self._xla.register_custom_call_as_batch_partitionable(name)

    def _register_gpu_calls(self, plugin: Any) -> None:
        """What JAX's CUDA plugin registers when JAX starts it: solvers, random numbers, sparse."""
        from jaxlib import gpu_linalg, gpu_prng, gpu_solver, gpu_sparse, plugin_support

        extension: Any = plugin_support.import_from_plugin("cuda", "cuda_plugin_extension")
        if extension is None:
            return
        add_type, add_call = extension.register_custom_type, extension.register_custom_call_target
        self._xla.register_custom_type_handler("CUDA", functools.partial(add_type, plugin))
        self._xla.register_custom_call_handler("CUDA", functools.partial(add_call, plugin))
        for name, value in extension.ffi_types().items():
            self._xla.register_custom_type(name, value, platform="CUDA")
        calls = [(name, value, 1) for name, value in extension.ffi_handlers().items()]
        for library in (gpu_linalg, gpu_prng, gpu_solver, gpu_sparse):
            calls += library.registrations().get("CUDA", ())
        for name, value, version in calls:
            self._xla.register_custom_call_target(name, value, platform="CUDA", api_version=version)

    def _parsed(self, module: bytes) -> Any:
        """Clients without a device take a parsed module only, in a context that has JAX's dialects."""
        from jaxlib.mlir import ir
        from jaxlib.mlir._mlir_libs import _jax_mlir_ext
        from jaxlib.mlir.dialects import chlo, mhlo, sdy, stablehlo

        registry, context = ir.DialectRegistry(), ir.Context()
        _jax_mlir_ext.register_dialects(registry)
        context.append_dialect_registry(registry)
        mhlo.register_mhlo_dialect(context)
        for dialect in (sdy, chlo, stablehlo):
            dialect.register_dialect(context)
        context.load_all_available_dialects()
        return ir.Module.parse(module, context=context)

    def _absent_devices(self, platform: str, library: str, kind: str, topology: str) -> list[Any]:
        key = (kind, topology)
        if key not in self._devices:
            plugin = self._plugin(platform, library)
            made: Any
            if platform == "tpu":
                made = self._xla.make_tfrt_tpu_c_api_device_topology(topology)
            else:
                made = self._xla.make_c_api_device_topology(
                    plugin, topology, target_config=self._gpu_spec(library, kind), topology=topology
                )
            self._devices[key] = sorted(made._make_compile_only_devices(), key=lambda device: device.id)
        return self._devices[key]

    def _plugin(self, platform: str, library: str) -> Any:
        if platform not in self._plugins:
            plugin = self._xla.load_pjrt_plugin_dynamically(platform, library)
            self._xla.initialize_pjrt_plugin(platform)
            if platform == "cuda":
                self._register_gpu_calls(plugin)
            self._plugins[platform] = plugin
        return self._plugins[platform]

    def _gpu_spec(self, library: str, kind: str) -> str:
        """`kind` names one of the text protos that the plugin carries for GPUs, or is one."""
        if _GPU_SPEC.match(kind.encode()):
            return kind
        if not self._specs:
            self._specs = gpu_specs(library)
        return self._specs[kind]


def gpu_specs(library: str) -> dict[str, str]:
    """The GPU descriptions inside a plugin's library, by their device's name."""
    specs = {}
    with open(library, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        for found in _GPU_SPEC.finditer(data):
            text = data[found.start() : data.find(b"\0", found.start())].decode("utf-8", "replace")
            name = re.search(r'device_description_str: "([^"]*)"', text)
            if name:
                specs[name[1]] = text
    return specs


def autotuned(log: str) -> dict[str, Any]:
    """How many of XLA's choices found an autotune result, by its log, and what it calls the GPU there."""
    counts = [(int(hits), int(misses)) for hits, misses in _LOOKED_UP.findall(log)]
    device = _TUNED_FOR.search(log)
    return {
        "hits": sum(hits for hits, _ in counts),
        "choices": sum(map(sum, counts)) if counts else None,
        "device": (device[1] or device[2]) if device else None,
    }


def _asked(analysis: Any) -> tuple[Any, str | None]:
    """(value, None), or (None, why there is none)."""
    try:
        return analysis(), None
    except Exception as error:
        return None, str(error)


def _numbers(stats: Any) -> dict[str, int]:
    values = {name: getattr(stats, name) for name in dir(stats) if not name.startswith("_")}
    return {name: value for name, value in values.items() if isinstance(value, int)}


if __name__ == "__main__":
    main(float(sys.argv[1]))
