"""How much data a collective sends over a target's links, and a lower bound of the time.

Bytes sent by each of n devices, for S bytes of payload: NCCL-tests' "bus bandwidth" (doc/PERFORMANCE.md in
NVIDIA/nccl-tests), the least that any algorithm sends without in-network reduction: 2 (n - 1) / n S for an
all-reduce, (n - 1) / n S for all-gather, reduce-scatter and all-to-all, S for a permutation and a broadcast. S is the
whole of what is reduced, gathered or scattered on one device. The time is these bytes by the bandwidth in one
direction of the links that the group spans: on a torus those of the axes that the group spans (Austin et al., "How
to Scale Your Model", 2025, part 3), behind a switch all of them. Latency, contention
and missing wrap-around come on top.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jaxstage_ext.analysis.collectives import device_groups as sets
from jaxstage_ext.analysis.collectives.device_groups import Groups

_SENT = {
    "all-reduce": 2.0,
    "all-gather": 1.0,
    "reduce-scatter": 1.0,
    "all-to-all": 1.0,
    "ragged-all-to-all": 1.0,
}
_WHOLE = ("collective-permute", "collective-broadcast", "send", "recv")


@dataclass(frozen=True)
class DeviceLinks:
    """The links of one device.

    Attributes:
      bandwidth: bytes per second that it can send over all of them together, in one direction; None where unknown.
      coords: of each device in the torus, in the order of the device assignment; empty without a torus.
      hosts: of each device, in the same order; empty where unknown.
      source: where the bandwidth is from.
    """

    bandwidth: float | None = None
    coords: Sequence[Sequence[int]] = ()
    hosts: Sequence[int | None] = ()
    source: str = ""

    def along(self, groups: Groups) -> tuple[float | None, str]:
        """(bytes per second within a group, ""), or (None, why it is unknown)."""
        if self.bandwidth is None:
            return None, self.source or "no link speed on file"
        if self.coords:
            spanned = sets.spans(groups, self.coords)
            if not spanned:
                return None, "the group does not leave the chip" if spanned == 0 else "the group is unknown"
            return self.bandwidth * spanned / len(self.coords[0]), ""
        if not sets.within_one_host(groups, self.hosts):
            return None, "no link speed on file between hosts"
        return self.bandwidth, ""


def sent(kind: str, payload: float, devices: int) -> float | None:
    """Lower bound of the bytes that each of `devices` sends, for a payload in bytes; None for an unknown kind."""
    if devices <= 1:
        return 0.0
    if kind in _WHOLE:
        return payload
    return _SENT[kind] * (devices - 1) / devices * payload if kind in _SENT else None
