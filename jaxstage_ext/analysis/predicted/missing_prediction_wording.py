"""Why there is no predicted timeline, and what one assumes."""

from __future__ import annotations

from enum import Enum

SCHEDULER_FLAG = "xla_gpu_enable_latency_hiding_scheduler"
ANALYTICAL_FLAG = "xla_gpu_enable_analytical_latency_estimator"
NETWORK = "25 GB/s per GPU and a round trip of 31 µs, XLA's default"


class NotPredicted(Enum):
    """Why there is no predicted timeline."""

    NO_TARGET = "no target"
    NO_SCHEDULER = "no scheduler"
    FLAG = "flag"
    NOTHING_BESIDE = "nothing beside"
    NO_CYCLES = "no cycles"
    NO_CLOCK = "no clock"
    WEIGHTS = "weights"
    LARGE = "large"
    UNREADABLE = "unreadable"
    OTHER_MODULE = "other module"
    SAVED = "saved"


def why(kind: NotPredicted, what: str = "") -> str:
    """One sentence; `what` names the target, the flag, the bytes or the damage."""
    return {
        NotPredicted.NO_TARGET: "a timeline is predicted for a GPU or TPU that is named as the target, such as h100:8",
        NotPredicted.NO_SCHEDULER: f"XLA estimates no schedule for {what}; its lower bounds are in the roofline",
        NotPredicted.FLAG: f"{what}=false turns off the scheduler of XLA's that estimates times; leave it out",
        NotPredicted.NOTHING_BESIDE: "XLA schedules by estimated times only programs with asynchronous operations, "
        "such as large collectives, and this one has none; its lower bounds are in the roofline",
        NotPredicted.NO_CYCLES: "XLA's compiler for TPUs estimates no cycles of its instructions; its lower bounds "
        "are in the roofline",
        NotPredicted.NO_CLOCK: f"no clock is on file for {what}, so XLA's estimated cycles are no times; its lower "
        "bounds are in the roofline",
        NotPredicted.WEIGHTS: f"XLA has no times for this program on {what} and orders it by weights alone, which are "
        "no estimate; its lower bounds are in the roofline",
        NotPredicted.LARGE: f"XLA's schedule is {what} bytes, more than is read",
        NotPredicted.UNREADABLE: f"XLA's schedule cannot be read: {what}",
        NotPredicted.OTHER_MODULE: "XLA compiled the program differently when it was asked for its schedule, so that "
        "the schedule is not that of the HLO that is shown; inspect it once more",
        NotPredicted.SAVED: "a saved inspection holds no predicted timeline; inspect it again",
    }[kind]
