"""Descriptions of NVIDIA GPUs for XLA, for CUDA plugins before JAX 0.12, which have none of their own.

The figures are those that the CUDA driver reports. A test compares them with those of JAX 0.12's plugin. Fields that
the older compiler lacks are left out.
"""

from __future__ import annotations

from typing import NamedTuple

from jaxstage_ext.core.targets.catalogue import CATALOGUE
from jaxstage_ext.core.targets.target import GPUS

_DESCRIBED_SINCE = (0, 12)


class _Architecture(NamedTuple):
    """One SM: threads, bytes of shared memory in all and per block, f32 units, and whether PTX has the suffix "a"."""

    threads: int
    shared: int
    shared_of_block: int
    units: int
    accelerated: bool


_ARCHITECTURES = {
    8: _Architecture(2048, 167_936, 166_912, 64, False),
    9: _Architecture(2048, 233_472, 232_448, 128, True),
    10: _Architecture(2048, 233_472, 232_448, 128, True),
    12: _Architecture(1536, 131_072, 101_376, 128, False),
}


def name_or_description(kind: str, plugin: str) -> str:
    """What a worker with this version of the CUDA plugin takes for a GPU, whose `kind` is a key of `target.GPUS`."""
    return GPUS[kind] if in_plugin(plugin) else description(kind)


def in_plugin(version: str) -> bool:
    """Whether this version of the CUDA plugin has descriptions of GPUs."""
    return tuple(int(part) for part in version.split(".")[:2] if part.isdigit()) >= _DESCRIBED_SINCE


def description(kind: str, dnn_version: str = "") -> str:
    """The GpuTargetConfigProto of a GPU as text, with the fields that the compiler of JAX 0.10 knows.

    `dnn_version` is that of the cuDNN beside it, by which XLA tells autotune results apart.
    """
    gpu = CATALOGUE[kind].gpu
    assert gpu is not None
    major, minor = gpu.capability
    sm = _ARCHITECTURES[major]
    return f"""gpu_device_info {{
  threads_per_block_limit: 1024
  threads_per_warp: 32
  shared_memory_per_block: 49152
  shared_memory_per_core: {sm.shared}
  threads_per_core_limit: {sm.threads}
  core_count: {gpu.cores}
  fpus_per_core: {sm.units}
  block_dim_limit_x: 2147483647
  block_dim_limit_y: 65535
  block_dim_limit_z: 65535
  memory_bandwidth: {gpu.bandwidth}
  l2_cache_size: {gpu.l2}
  clock_rate_ghz: {gpu.clock}
  device_memory_size: {gpu.memory}
  shared_memory_per_block_optin: {sm.shared_of_block}
  cuda_compute_capability {{
    major: {major}
    minor: {minor}
    feature_extension: {"ACCELERATED_FEATURES" if sm.accelerated else "NONE"}
  }}
  registers_per_core_limit: 65536
  registers_per_block_limit: 65536
  thread_dim_limit_x: 1024
  thread_dim_limit_y: 1024
  thread_dim_limit_z: 64
  {f'dnn_version: "{dnn_version}"' if dnn_version else ""}
  device_interconnect_info {{
    active_links: {gpu.links}
  }}
}}
platform_name: "CUDA"
device_description_str: "{gpu.name}"
"""
