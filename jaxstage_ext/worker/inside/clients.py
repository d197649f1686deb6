"""jaxlib's clients and device topologies, made when they are first needed and kept, with the custom calls of JAX."""

from __future__ import annotations

import functools
import mmap
import re
from typing import Any

from jaxlib import xla_client

_MOST_CPU_CLIENTS = 3
_ONE_CHIP = (1, 1, 1)
"""How libtpu is told of a host with one chip; to some versions a host has four, and one chip is no topology."""


class Clients:
    """The clients of this process, by platform."""

    def __init__(self) -> None:
        self._xla: Any = xla_client
        self._cpu_clients: dict[int, Any] = {}
        self._plugins: dict[str, Any] = {}
        self._devices: dict[tuple[str, str], list[Any]] = {}
        self._gpu_specs: dict[str, str] = {}

    def cpu(self, devices: int) -> Any:
        """A CPU client with that many virtual devices."""
        if devices not in self._cpu_clients:
            if not self._cpu_clients:
                register_cpu(self._xla)
            while len(self._cpu_clients) >= _MOST_CPU_CLIENTS:
                self._cpu_clients.pop(next(iter(self._cpu_clients)))
            self._cpu_clients[devices] = self._xla.make_cpu_client(num_devices=devices)
        return self._cpu_clients[devices]

    def absent_devices(self, platform: str, library: str, kind: str, topology: str) -> list[Any]:
        """The compile-only devices of a TPU or GPU topology, by id, from a plugin's shared library.

        The `kind` of a GPU is the name of a description that the plugin carries, or a description; that of a TPU is
        libtpu's configuration of its chips, "" for the default.
        """
        key = (kind, topology)
        if key not in self._devices:
            plugin = self._plugin(platform, library)
            described: Any
            if platform == "tpu":
                configured: dict[str, Any] = {"chip_config_name": kind} if kind else {}
                configured |= {"chips_per_host_bounds": _ONE_CHIP} if is_one_chip(topology) else {}
                described = self._xla.make_tfrt_tpu_c_api_device_topology(topology, **configured)
            else:
                described = self._xla.make_c_api_device_topology(
                    plugin, topology, target_config=self.gpu_spec(library, kind), topology=topology
                )
            self._devices[key] = sorted(described._make_compile_only_devices(), key=lambda device: device.id)
        return self._devices[key]

    def _plugin(self, platform: str, library: str) -> Any:
        if platform not in self._plugins:
            plugin = self._xla.load_pjrt_plugin_dynamically(platform, library)
            self._xla.initialize_pjrt_plugin(platform)
            if platform == "cuda":
                register_cuda(self._xla, plugin)
            self._plugins[platform] = plugin
        return self._plugins[platform]

    def gpu_spec(self, library: str, kind: str) -> str:
        """The description of a GPU that is named, or described, by its kind."""
        if is_spec(kind):
            return kind
        if not self._gpu_specs:
            self._gpu_specs = gpu_specs(library)
        return self._gpu_specs[kind]


def parsed(module: bytes, allow_unregistered: bool = False) -> Any:
    """StableHLO bytecode as a module; clients without a device take nothing else. The context has JAX's dialects."""
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
    context.allow_unregistered_dialects = allow_unregistered
    return ir.Module.parse(module, context=context)


def register_cpu(xla_client: Any) -> None:
    """Register the custom calls of the CPU, as JAX does: without LAPACK's handlers svd and solve do not compile."""
    from jaxlib import cpu_sparse, lapack

    for library in (lapack, cpu_sparse):
        for name, handler, version in library.registrations()["cpu"]:
            xla_client.register_custom_call_target(name, handler, platform="cpu", api_version=version)
    for name in lapack.batch_partitionable_targets():
        xla_client.register_custom_call_as_batch_partitionable(name)


def register_cuda(xla_client: Any, plugin: Any) -> None:
    """Solvers, random numbers and sparse matrices, which JAX's CUDA plugin registers."""
    from jaxlib import gpu_linalg, gpu_prng, gpu_solver, gpu_sparse, plugin_support

    extension: Any = plugin_support.import_from_plugin("cuda", "cuda_plugin_extension")
    if extension is None:
        return
    add_type, add_call = extension.register_custom_type, extension.register_custom_call_target
    xla_client.register_custom_type_handler("CUDA", functools.partial(add_type, plugin))
    xla_client.register_custom_call_handler("CUDA", functools.partial(add_call, plugin))
    for name, value in extension.ffi_types().items():
        xla_client.register_custom_type(name, value, platform="CUDA")
    calls = [(name, value, 1) for name, value in extension.ffi_handlers().items()]
    for library in (gpu_linalg, gpu_prng, gpu_solver, gpu_sparse):
        calls += library.registrations().get("CUDA", ())
    for name, value, version in calls:
        xla_client.register_custom_call_target(name, value, platform="CUDA", api_version=version)
    for library in (gpu_linalg, gpu_solver, gpu_sparse):
        for name in library.batch_partitionable_targets():
            xla_client.register_custom_call_as_batch_partitionable(name, c_api=plugin)


def is_one_chip(topology: str) -> bool:
    """Whether a TPU topology, such as "v5e:1x1", is one chip."""
    return set(topology.partition(":")[2].split("x")) == {"1"}


_START = re.compile(rb"gpu_device_info \{")
_NAME = re.compile(r'device_description_str: "([^"]*)"')


def is_spec(text: str) -> bool:
    """Whether a text is a description itself rather than the name of one."""
    return _START.match(text.encode()) is not None


def gpu_specs(library: str) -> dict[str, str]:
    """The descriptions in a plugin's library, by the name of their device."""
    specs = {}
    with open(library, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        for start in (match.start() for match in _START.finditer(data)):
            text = data[start : data.find(b"\0", start)].decode("utf-8", "replace")
            if name := _NAME.search(text):
                specs[name[1]] = text
    return specs
