"""How much data a collective sends over a target's links, and a lower bound of its time.

Bytes sent by each of n devices, for S bytes of payload: NCCL-tests' "bus bandwidth" (doc/PERFORMANCE.md in
NVIDIA/nccl-tests), the least that any algorithm sends without in-network reduction: 2 (n - 1) / n S for an
all-reduce, (n - 1) / n S for all-gather, reduce-scatter and all-to-all, S for a permutation and a broadcast. S is the
whole of what is reduced, gathered or scattered on one device. Switches that reduce and copy (NVLink SHARP: Klenk et
al., "An In-Network Architecture for Accelerating Shared-Memory Multiprocessor Collectives", ISCA 2020) leave S for an
all-reduce and S / n for an all-gather to be sent; what a device receives bounds the time of the latter.

The time is these bytes by the bandwidth in one direction of the links that the group spans: behind a switch all of
them, on a torus as `torus_time` has it. Latency and contention come on top.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jaxstage_ext.analysis.collectives import device_groups as sets
from jaxstage_ext.analysis.collectives import torus_time
from jaxstage_ext.analysis.collectives.device_groups import Groups

_SENT = {
    "all-reduce": 2.0,
    "all-gather": 1.0,
    "reduce-scatter": 1.0,
    "all-to-all": 1.0,
}
WHOLE = ("collective-permute", "collective-broadcast", "send", "recv")
"""Kinds that send all of the payload."""

NO_SPEED = "no link speed on file"
NO_SPEED_BETWEEN_HOSTS = "no link speed on file between hosts"


@dataclass(frozen=True)
class DeviceLinks:
    """The links of one device."""

    bandwidth: float | None = None
    """Bytes per second that it can send over all of them together, in one direction; None where unknown."""
    coords: Sequence[Sequence[int]] = ()
    """Of each device in the torus, in the order of the device assignment; empty without a torus."""
    hosts: Sequence[int | None] = ()
    """Of each device, in the same order; empty where unknown."""
    source: str = ""
    """Where the bandwidth is from."""
    wraps: Sequence[bool] = ()
    """Per torus axis, whether its last chip is linked to its first."""
    chip: int = 1
    """Devices of one chip, which share the links."""
    reduces: bool = False
    """Whether switches reduce and copy."""

    def seconds(self, kind: str, payload: float, groups: Groups, beside: bool = False) -> tuple[float | None, str]:
        """(lower bound of the time of a collective of known bytes, ""), or (None, why it is unknown).

        Where another collective is in flight `beside` it, all links of the chip count for each of them.
        """
        if self.bandwidth is None:
            return None, self.source or NO_SPEED
        if self.coords:
            axes = sets.spans(groups, self.coords)
            if not axes:
                return None, "the group is unknown" if axes is None else "the group does not leave the chip"
            if beside:
                return (sent(kind, payload, groups.size or 1) or 0.0) / (self.bandwidth * self.chip), ""
            torus = torus_time.Torus(self.bandwidth, self.coords, self.wraps, self.chip)
            return torus_time.seconds(kind, payload, groups, torus), ""
        if not sets.within_one_host(groups, self.hosts):
            return None, NO_SPEED_BETWEEN_HOSTS
        moved = sent(kind, payload, groups.size or 1, self.reduces) or 0.0
        received = (1 - 1 / (groups.size or 1)) * payload if kind == "all-gather" else 0.0
        return max(moved, received) / self.bandwidth, ""


def sent(kind: str, payload: float, devices: int, reduces: bool = False) -> float | None:
    """Lower bound of the bytes that each of `devices` sends, for a payload in bytes; None for an unknown kind.

    `reduces` is whether switches between the devices reduce and copy.
    """
    if devices <= 1:
        return 0.0
    if kind in WHOLE or (reduces and kind == "all-reduce"):
        return payload
    if reduces and kind == "all-gather":
        return payload / devices
    return _SENT[kind] * (devices - 1) / devices * payload if kind in _SENT else None
