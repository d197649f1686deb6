"""The vendors' peak figures of devices, with which a program's work is compared.

Figures are for one chip or GPU, dense (no sparsity), in FLOP/s, bytes and bytes per second. A figure is None where its
source does not give it, or sources differ. All were checked against their sources in November 2026, except those
marked (*), whose sources were not available. Sources:

- TPU v2, v3: Jouppi et al., "Ten Lessons From Three Generations Shaped Google's TPUv4i", ISCA 2021, table 1 (*).
- TPU v4: Google Cloud TPU documentation, "TPU v4"; Jouppi et al., "TPU v4", ISCA 2023, table 4 (*).
- TPU v5e: Google Cloud TPU documentation, "TPU v5e" (819 GBps; later pages round to 800).
- TPU v5p, v6e, 7x: Google Cloud TPU documentation, "TPU7x (Ironwood)", which compares the three; int8 of v6e: "TPU
  v6e".
- On-chip memory of TPUs (VMEM, all TensorCores of a chip) and int8 of v5p: JAX's documentation, "TPU Hardware
  Reference" of Pallas, as jax 0.12 computes it; v5e also "How to Scale Your Model", "How to Think About TPUs".
- A100: NVIDIA A100 Tensor Core GPU datasheet (80 GB SXM); L2: A100 whitepaper.
- H100, H200: NVIDIA H100 and H200 Tensor Core GPU datasheets (SXM); TF32 without sparsity and L2: H100 whitepaper (*).
- B200, B300: NVIDIA HGX B200 and HGX B300 tables, an eighth of the system; memory and bandwidth of B200: DGX B200
  datasheet (*). Sources disagree on int8 of B300.
- GB300: NVIDIA GB300 NVL72 page, a seventy-second of the system. Memory and bandwidth of B300 and GB300: NVIDIA,
  "Inside NVIDIA Blackwell Ultra". Vendors state 270 to 279 GB as free for programs.
- RTX PRO 6000: NVIDIA RTX PRO 6000 Blackwell datasheets, what the editions have in common.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jaxstage_ext.core.targets.target import Target

_T, _G, _M = 10**12, 10**9, 1 << 20
_GIB = 1 << 30


@dataclass(frozen=True)
class Device:
    """One chip or GPU.

    Attributes:
      title: the vendor's name.
      flops: peak FLOP/s (op/s for int8) by dtype: "f64", "f32", "tf32", "bf16", "f16", "f8", "s8".
      memory: bytes of device memory.
      bandwidth: memory bandwidth in bytes per second.
      on_chip: bytes of shared memory on the chip (VMEM of a TPU, L2 of a GPU).
      interconnect: bytes per second to other chips, the sum of all links and both directions.
    """

    title: str
    flops: Mapping[str, float] = field(default_factory=dict)
    memory: int | None = None
    bandwidth: float | None = None
    on_chip: int | None = None
    interconnect: float | None = None


_HOPPER = {
    "f64": 34 * _T,
    "f32": 67 * _T,
    "tf32": 494.7 * _T,
    "bf16": 989 * _T,
    "f16": 989 * _T,
    "f8": 1979 * _T,
    "s8": 1979 * _T,
}
_HGX = {"f32": 75 * _T, "tf32": 1125 * _T, "bf16": 2250 * _T, "f16": 2250 * _T, "f8": 4500 * _T}
_GB300 = {"tf32": 1250 * _T, "bf16": 2500 * _T, "f16": 2500 * _T, "f8": 5000 * _T}

CATALOGUE: Mapping[str, Device] = {
    "v2": Device("TPU v2", {"bf16": 46 * _T}, 16 * _GIB, 700 * _G, 32 * _M),
    "v3": Device("TPU v3", {"bf16": 123 * _T}, 32 * _GIB, 900 * _G, 32 * _M),
    "v4": Device("TPU v4", {"bf16": 275 * _T, "s8": 275 * _T}, 32 * _GIB, 1200 * _G, 32 * _M),
    "v5e": Device("TPU v5e", {"bf16": 197 * _T, "s8": 393 * _T}, 16 * _GIB, 819 * _G, 128 * _M, 400 * _G),
    "v5p": Device(
        "TPU v5p", {"bf16": 459 * _T, "f8": 459 * _T, "s8": 918 * _T}, 95 * _GIB, 2765 * _G, 128 * _M, 1200 * _G
    ),
    "v6e": Device(
        "TPU v6e (Trillium)",
        {"bf16": 918 * _T, "f8": 918 * _T, "s8": 1836 * _T},
        32 * _GIB,
        1638 * _G,
        128 * _M,
        800 * _G,
    ),
    "tpu7x": Device(
        "TPU7x (Ironwood)", {"bf16": 2307 * _T, "f8": 4614 * _T}, 192 * _GIB, 7380 * _G, 128 * _M, 1200 * _G
    ),
    "a100": Device(
        "NVIDIA A100 80GB SXM",
        {"f64": 9.7 * _T, "f32": 19.5 * _T, "tf32": 156 * _T, "bf16": 312 * _T, "f16": 312 * _T, "s8": 624 * _T},
        80 * _G,
        2039 * _G,
        40 * _M,
        600 * _G,
    ),
    "h100": Device("NVIDIA H100 SXM", _HOPPER, 80 * _G, 3350 * _G, 50 * _M, 900 * _G),
    "h200": Device("NVIDIA H200 SXM", _HOPPER, 141 * _G, 4800 * _G, 50 * _M, 900 * _G),
    "b200": Device("NVIDIA B200", _HGX | {"f64": 37 * _T, "s8": 4500 * _T}, 180 * _G, 8000 * _G, None, 1800 * _G),
    "b300": Device("NVIDIA B300", _HGX | {"f64": 1.25 * _T}, 288 * _G, 8000 * _G, None, 1800 * _G),
    "gb300": Device("NVIDIA GB300", _GB300, 288 * _G, 8000 * _G, None, 1800 * _G),
    "rtx-pro-6000": Device("NVIDIA RTX PRO 6000 Blackwell", {}, 96 * _G, None, 128 * _M, None),
}


KINDS: Mapping[str, str] = {
    "TPU v2": "v2",
    "TPU v3": "v3",
    "TPU v4": "v4",
    "TPU v5 lite": "v5e",
    "TPU v5e": "v5e",
    "TPU v5": "v5p",
    "TPU v5p": "v5p",
    "TPU v6 lite": "v6e",
    "TPU v6e": "v6e",
    "TPU7x": "tpu7x",
    "NVIDIA A100-SXM4-80GB": "a100",
    "NVIDIA H100 80GB HBM3": "h100",
    "NVIDIA H200": "h200",
    "NVIDIA B200": "b200",
    "NVIDIA GB300": "gb300",
}
"""JAX's `device_kind` -> the key in CATALOGUE. A GPU of another form (PCIe, less memory) differs, and has no entry.

Sources: jax/_src/pallas/mosaic/tpu_info.py for TPUs, the names that NVIDIA's driver gives for GPUs.
"""


def by_kind(device_kind: str, chips: float = 1.0) -> Device | None:
    """The figures of a JAX device of this kind, which is `chips` of a chip; None where the catalogue lacks it."""
    known = CATALOGUE.get(KINDS.get(device_kind, ""))
    return None if known is None else _part(known, chips)


def share(target: Target) -> Device | None:
    """The figures of one JAX device of a target, which may be a part of a chip."""
    known = CATALOGUE.get(target.kind)
    chips = target.chips / target.devices if target.chips and target.devices else 1.0
    return None if known is None else _part(known, chips)


def _part(chip: Device, chips: float) -> Device:
    if chips == 1:
        return chip
    flops = {kind: peak * chips for kind, peak in chip.flops.items()}
    bandwidth = None if chip.bandwidth is None else chip.bandwidth * chips
    return replace(
        chip,
        title=f"half a {chip.title}" if chips == 0.5 else f"{chips:.2g} of a {chip.title}",
        flops=flops,
        bandwidth=bandwidth,
    )


def memory_of(target: Target) -> int | None:
    """The bytes of memory of one JAX device, which may be a part of a chip."""
    device = CATALOGUE.get(target.kind)
    if device is None or device.memory is None or not target.chips or not target.devices:
        return None
    return device.memory * target.chips // target.devices
