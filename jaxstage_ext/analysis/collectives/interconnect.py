"""How much data a collective sends over a target's links, and how long that takes at least.

Bytes sent by each of n devices, for S bytes of payload: NCCL-tests' "bus bandwidth" (doc/PERFORMANCE.md in
NVIDIA/nccl-tests), which is the least that any algorithm sends without reducing in the network: 2 (n - 1) / n S for an
all-reduce, (n - 1) / n S for all-gather, reduce-scatter and all-to-all, S for a permutation and a broadcast. S is the
whole of what is reduced, gathered or scattered on one device. The time is these bytes by the bandwidth in one
direction of the links that lead along the group: on a torus those of the axes that the group spans (Austin et al., "How
to Scale Your Model", 2025, part 3), behind a switch all. Latency, contention and missing wrap-around come on top.
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
class Links:
    """The links of one device.

    Attributes:
      bandwidth: bytes a second that it can send over all of them together, one direction; None where unknown.
      coords: of each device in the torus, in the order of the device assignment; empty without a torus.
      hosts: of each device, in the same order; empty where unknown.
      source: where the bandwidth is from.
    """

    bandwidth: float | None = None
    coords: Sequence[Sequence[int]] = ()
    hosts: Sequence[int | None] = ()
    source: str = ""

    def along(self, groups: Groups) -> tuple[float | None, str]:
        """(bytes a second along a group, ""), or (None, why it is unknown)."""
        if self.bandwidth is None:
            return None, self.source or "the bandwidth of the target's links is not known"
        if self.coords:
            spanned = sets.spans(groups, self.coords)
            if not spanned:
                return None, "the group does not leave the chip" if spanned == 0 else "the group is not known"
            return self.bandwidth * spanned / len(self.coords[0]), ""
        if not sets.one_host(groups, self.hosts):
            return None, "the bandwidth between hosts is not known"
        return self.bandwidth, ""


def sent(kind: str, payload: float, devices: int) -> float | None:
    """Bytes that each of `devices` sends at least, for a payload in bytes; None for a kind that is not known."""
    if devices <= 1:
        return 0.0
    if kind in _WHOLE:
        return payload
    return _SENT[kind] * (devices - 1) / devices * payload if kind in _SENT else None
