"""The figures of one JAX device: a chip of the catalogue, or its part of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from jaxstage_ext.core.targets.catalogue import CATALOGUE, Device

if TYPE_CHECKING:
    from jaxstage_ext.core.targets.target import Target

__all__ = ["CATALOGUE", "KINDS", "Device", "by_kind", "memory_of", "share"]

KINDS: Mapping[str, str] = {kind: name for name, device in CATALOGUE.items() for kind in device.device_kinds}
"""JAX's `device_kind` -> the key in CATALOGUE.

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
    flops, vector = ({kind: peak * chips for kind, peak in peaks.items()} for peaks in (chip.flops, chip.vector))
    return replace(
        chip,
        title=f"half a {chip.title}" if chips == 0.5 else f"{chips:.2g} of a {chip.title}",
        flops=flops,
        vector=vector,
        bandwidth=None if chip.bandwidth is None else chip.bandwidth * chips,
        memory=None if chip.memory is None else int(chip.memory * chips),
        on_chip=None if chip.on_chip is None else int(chip.on_chip * chips),
    )


def memory_of(target: Target) -> int | None:
    """The bytes of memory of one JAX device, which may be a part of a chip."""
    device = share(target)
    return None if device is None else device.memory
