"""The figures of devices, with which a program's work is compared: the only table of them.

Peaks are the vendors', for one chip or GPU, dense (no sparsity), in FLOP/s and bytes per second. Memory, bandwidth and
cache of a GPU are what its driver reports, as XLA takes them too. A figure is None where its source does not give it,
or sources differ. All were checked against their sources in November 2026, except those
marked (*), whose sources were not available. Sources:

- TPU v2, v3: Jouppi et al., "Ten Lessons From Three Generations Shaped Google's TPUv4i", ISCA 2021, table 1 (*).
- TPU v4: Google Cloud TPU documentation, "TPU v4"; Jouppi et al., "TPU v4", ISCA 2023, table 4 (*).
- TPU v5e: Google Cloud TPU documentation, "TPU v5e" (819 GBps; later pages round to 800).
- TPU v5p, v6e, 7x: Google Cloud TPU documentation, "TPU7x (Ironwood)", which compares the three; int8 of v6e: "TPU
  v6e".
- On-chip memory of TPUs (VMEM, all TensorCores of a chip) and int8 of v5p: JAX's documentation, "TPU Hardware
  Reference" of Pallas, as jax 0.12 computes it; v5e also "How to Scale Your Model", "How to Think About TPUs".
- A100: NVIDIA A100 Tensor Core GPU datasheet (80 GB SXM).
- H100, H200: NVIDIA H100 and H200 Tensor Core GPU datasheets (SXM); TF32 without sparsity: H100 whitepaper (*).
- B200, B300: NVIDIA HGX B200 and HGX B300 tables, an eighth of the system. Sources disagree on int8 of B300.
- GB300: NVIDIA GB300 NVL72 page, a seventy-second of the system.
- What drivers report of GPUs: the device descriptions in the CUDA plugin of JAX 0.12.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

_T, _G, _M = 10**12, 10**9, 1 << 20
_GIB = 1 << 30


class Tpu(NamedTuple):
    """A TPU generation's topologies: axes, chips of the largest, JAX devices per chip, the smallest that fills a host.

    `configuration` is libtpu's name of how a chip's cores form devices; "" for its default. JAX runs a v4 chip as one
    device ("megacore"), while libtpu's topologies make two of it by default.

    `ring` is the number of chips, or any multiple of it, with which an axis of a slice closes to a ring: links wrap
    around a whole pod of v2, v3, v5e and v6e, and any number of cubes of 4x4x4 of the others.

    Pod sizes and wrap-around: Google Cloud TPU documentation, system architecture pages of each version.
    """

    axes: int
    most: int
    devices_per_chip: int
    example: str
    configuration: str = ""
    ring: int = 4


class Gpu(NamedTuple):
    """The name in JAX's CUDA plugin, and what the CUDA driver reports.

    SMs, clock in GHz, bytes of memory, memory bandwidth in B/s, bytes of L2, compute capability, NVLinks.

    NVLinks are 0 where JAX 0.12's plugin leaves them out, since XLA chooses kernels for collectives by them.
    """

    name: str
    cores: int
    clock: float
    memory: int
    bandwidth: int
    l2: int
    capability: tuple[int, int]
    links: int = 0


@dataclass(frozen=True)
class Device:
    """One chip or GPU."""

    title: str
    """The vendor's name."""
    flops: Mapping[str, float] = field(default_factory=dict)
    """Peak FLOP/s (op/s for integers) of matrix units by dtype: "f64", "tf32", "bf16", "f16", "f8", "s8", "s4"."""
    memory: int | None = None
    """Bytes of device memory."""
    bandwidth: float | None = None
    """Memory bandwidth in bytes per second."""
    on_chip: int | None = None
    """Bytes of shared memory on the chip (VMEM of a TPU, L2 of a GPU)."""
    interconnect: float | None = None
    """Bytes per second to other chips, the sum of all links and both directions."""
    tpu: Tpu | None = None
    """The topologies of a TPU; None for a GPU."""
    gpu: Gpu | None = None
    """The names and the description of a GPU; None for a TPU."""
    device_kinds: tuple[str, ...] = ()
    """JAX's `device_kind` of it. A GPU of another form (PCIe, less memory) differs, and is not listed."""
    vector: Mapping[str, float] = field(default_factory=dict)
    """Peak FLOP/s of vector units by dtype: "f64", "f32", "bf16", "f16", "s32" (all integers and booleans)."""
    functions: tuple[tuple[float, float], ...] = ()
    """Transcendental functions of f32 per second, (at least, at most) of those that are easy, hard and very hard to
    compute; empty where none is known."""
    clock: float | None = None
    """Cycles per second of a TPU's core, by which XLA's estimated cycles are times; None where no source gives it."""
    cache: int | None = None
    """Bytes of caches, and `cache_bandwidth` of what fits in them; None where memory's bandwidth bounds all."""
    cache_bandwidth: float | None = None
    measured: bool = False
    """Whether the figures were measured or set by hand, so that they are not the vendor's."""


_HOPPER = {
    "f64": 67 * _T,
    "tf32": 494.7 * _T,
    "bf16": 989 * _T,
    "f16": 989 * _T,
    "f8": 1979 * _T,
    "s8": 1979 * _T,
}
_HOPPER_VECTOR = {"f64": 34 * _T, "f32": 67 * _T, "bf16": 133.8 * _T, "f16": 133.8 * _T, "s32": 33.5 * _T}
_HGX = {"tf32": 1125 * _T, "bf16": 2250 * _T, "f16": 2250 * _T, "f8": 4500 * _T}
_HGX_VECTOR = {"f32": 75 * _T, "bf16": 150 * _T, "f16": 150 * _T}
_GB300 = {"tf32": 1250 * _T, "bf16": 2500 * _T, "f16": 2500 * _T, "f8": 5000 * _T}


def _alus(peak: float) -> Mapping[str, float]:
    """The peaks of a TPU's vector unit, which takes f32 and 32-bit integers, and all narrower types as one of them."""
    return dict.fromkeys(("f32", "s32", "bf16", "f16"), peak)


def _gpu(
    title: str,
    flops: Mapping[str, float],
    vector: Mapping[str, float],
    gpu: Gpu,
    interconnect: float | None = None,
    kinds: tuple[str, ...] = (),
) -> Device:
    """A GPU, whose memory, bandwidth and cache stand in its description alone."""
    sizes = gpu.memory, gpu.bandwidth, gpu.l2
    return Device(title, flops, *sizes, interconnect, gpu=gpu, device_kinds=kinds, vector=vector)


CATALOGUE: Mapping[str, Device] = {
    "v2": Device(
        "TPU v2",
        {"bf16": 46 * _T},
        16 * _GIB,
        700 * _G,
        32 * _M,
        tpu=Tpu(2, 256, 2, "v2:2x2", ring=16),
        vector=_alus(3 * _T),
        clock=0.7 * _G,
        device_kinds=("TPU v2",),
    ),
    "v3": Device(
        "TPU v3",
        {"bf16": 123 * _T},
        32 * _GIB,
        900 * _G,
        32 * _M,
        tpu=Tpu(2, 1024, 2, "v3:2x2", ring=32),
        vector=_alus(4 * _T),
        clock=0.94 * _G,
        device_kinds=("TPU v3",),
    ),
    "v4": Device(
        "TPU v4",
        {"bf16": 275 * _T, "s8": 275 * _T},
        32 * _GIB,
        1200 * _G,
        32 * _M,
        tpu=Tpu(3, 4096, 1, "v4:2x2x1", "megacore"),
        vector=_alus(2 * 2048 * 1.05 * _G),
        clock=1.05 * _G,
        device_kinds=("TPU v4",),
    ),
    "v5e": Device(
        "TPU v5e",
        {"bf16": 197 * _T, "s8": 393 * _T, "s4": 788 * _T},
        16 * _GIB,
        819 * _G,
        128 * _M,
        400 * _G,
        tpu=Tpu(2, 256, 1, "v5e:2x2", ring=16),
        vector=_alus(4096 * 1.5 * _G),
        clock=1.5 * _G,
        device_kinds=(
            "TPU v5 lite",
            "TPU v5e",
        ),
    ),
    "v5p": Device(
        "TPU v5p",
        {"bf16": 459 * _T, "f8": 459 * _T, "s8": 918 * _T, "s4": 1836 * _T},
        95 * _GIB,
        2765 * _G,
        128 * _M,
        1200 * _G,
        tpu=Tpu(3, 8960, 1, "v5p:2x2x1"),
        vector=_alus(2 * 4096 * 1.75 * _G),
        clock=1.75 * _G,
        device_kinds=(
            "TPU v5",
            "TPU v5p",
        ),
    ),
    "v6e": Device(
        "TPU v6e (Trillium)",
        {"bf16": 918 * _T, "f8": 918 * _T, "s8": 1836 * _T, "s4": 3672 * _T},
        32 * _GIB,
        1638 * _G,
        128 * _M,
        800 * _G,
        tpu=Tpu(2, 256, 1, "v6e:2x2", ring=16),
        device_kinds=(
            "TPU v6 lite",
            "TPU v6e",
        ),
    ),
    "tpu7x": Device(
        "TPU7x (Ironwood)",
        {"bf16": 2307 * _T, "f8": 4614 * _T},
        192 * _GIB,
        7380 * _G,
        128 * _M,
        1200 * _G,
        tpu=Tpu(3, 9216, 2, "tpu7x:2x2x1"),
        device_kinds=("TPU7x",),
    ),
    "a100": _gpu(
        "NVIDIA A100 80GB SXM",
        {"f64": 19.5 * _T, "tf32": 156 * _T, "bf16": 312 * _T, "f16": 312 * _T, "s8": 624 * _T},
        {"f64": 9.7 * _T, "f32": 19.5 * _T, "bf16": 39 * _T, "f16": 78 * _T, "s32": 19.5 * _T},
        Gpu("NVIDIA A100-SXM4-80GB", 108, 1.41, 85_100_068_864, 2_039_040_000_000, 41_943_040, (8, 0)),
        600 * _G,
        ("NVIDIA A100-SXM4-80GB",),
    ),
    "h100": _gpu(
        "NVIDIA H100 SXM",
        _HOPPER,
        _HOPPER_VECTOR,
        Gpu("NVIDIA H100 80GB HBM3", 132, 1.98, 84_942_979_072, 3_352_320_000_000, 52_428_800, (9, 0), 18),
        900 * _G,
        ("NVIDIA H100 80GB HBM3",),
    ),
    "h200": _gpu(
        "NVIDIA H200 SXM",
        _HOPPER,
        _HOPPER_VECTOR,
        Gpu("NVIDIA H200 141GB HBM3e", 132, 1.98, 151_397_597_184, 4_800_000_000_000, 52_428_800, (9, 0), 18),
        900 * _G,
        ("NVIDIA H200",),
    ),
    "b200": _gpu(
        "NVIDIA B200",
        _HGX | {"f64": 37 * _T, "s8": 4500 * _T},
        _HGX_VECTOR | {"f64": 37 * _T},
        Gpu("NVIDIA B200", 148, 1.965, 191_514_411_008, 7_672_320_000_000, 132_644_864, (10, 0), 18),
        1800 * _G,
        ("NVIDIA B200",),
    ),
    "b300": _gpu(
        "NVIDIA B300",
        _HGX | {"f64": 1.25 * _T},
        _HGX_VECTOR | {"f64": 1.25 * _T},
        Gpu("NVIDIA B300", 158, 1.965, 297_021_865_984, 7_936_000_000_000, 135_528_448, (10, 3)),
        1800 * _G,
    ),
    "gb300": _gpu(
        "NVIDIA GB300",
        _GB300,
        {"f32": 2 * 128 * 152 * 2.07 * _G},
        Gpu("NVIDIA GB300", 152, 2.07, 297_021_079_552, 7_928_064_000_000, 135_528_448, (10, 3), 18),
        1800 * _G,
        ("NVIDIA GB300",),
    ),
    "rtx-pro-6000": _gpu(
        "NVIDIA RTX PRO 6000 Blackwell",
        {},
        {"f32": 125 * _T},
        Gpu("NVIDIA RTX PRO 6000 Blackwell", 188, 2.6, 103_079_215_104, 1_792_000_000_000, 134_217_728, (12, 0)),
    ),
}
"""Every TPU and GPU that can be a target, with the name that a target begins with."""
