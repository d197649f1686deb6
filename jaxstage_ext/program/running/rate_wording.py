"""Why rates of a timeline are unknown."""

from __future__ import annotations

NO_HLO = "the profile holds no HLO of it, so its FLOPs and bytes are unknown"
OTHER_MODULE = "it belongs to another module than the one that is counted"
EXCHANGE = "it exchanges data between devices, which is counted in Collectives"
CONTROL = "counted at the operations inside it"
SEVERAL_KERNELS = "each run of it launches several kernels, so the number of its runs is unknown"
NO_TIME = "it took no time of its own"
NO_ROOF = "the peaks of this device are unknown"
PARTLY = "part of its work is unknown: "
ABOVE_ROOF = (
    "A share of the roof above 1 means that it ran faster than the stated peaks: they are too low, or less work was "
    "done than is counted."
)
ESTIMATE_ABOVE_ROOF = (
    "A share of the roof above 1 means that less time is estimated than the device's peaks allow: the estimate is too "
    "short, the peaks are too low, or less work is done than is counted."
)
