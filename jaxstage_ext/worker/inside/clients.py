"""jaxlib's clients and device topologies, made when they are first needed and kept."""

from __future__ import annotations

from typing import Any

from jaxlib import xla_client

from jaxstage_ext.worker.inside import custom_calls
from jaxstage_ext.worker.inside.gpu_specs import gpu_specs, is_spec

_MOST_CPU_CLIENTS = 3


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
                custom_calls.register_cpu(self._xla)
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
                configured = {"chip_config_name": kind} if kind else {}
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
                custom_calls.register_cuda(self._xla, plugin)
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
