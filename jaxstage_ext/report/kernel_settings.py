"""What a kernel's user has set for all calls, with `%config JAXStage` in a notebook."""

from __future__ import annotations

import enum
import os
from dataclasses import dataclass, replace
from typing import Any

MEASURE_CPU = "JAXSTAGE_MEASURE_CPU"
"""The environment variable whose "0" turns off that this machine's CPU is measured."""


class DamagedPolicy(enum.Enum):
    """What is done with a damaged entry of JAX's persistent cache before JAX reads it."""

    ASK = "ask"
    """Warn, and leave it to the user to set it aside."""
    SET_ASIDE = "set aside"
    """Rename it at once, so that JAX compiles its program and writes it anew."""


@dataclass(frozen=True)
class KernelSettings:
    """All of them, as they are at one time."""

    large_program: int = 4000
    """The most StableHLO operations of a program that this process compiles.

    The memory that XLA's CPU compiler takes grows faster than the program. With jaxlib 0.12.0.1, gradients of layers
    without a matrix product took 1.1 GB at 2,100 StableHLO operations, 4.0 GB at 4,000, and over 5 GB after half a
    minute and still growing at 6,300; those of attention blocks took 0.9 GB at 5,400 and over 3.7 GB at 10,900; those
    of a plain MLP 0.4 GB at 5,700, and 0.4 GB at 13,500.
    """
    worker_memory: int | None = None
    """Bytes that a worker compile may take if its request sets none; None: half of the machine's memory."""
    saved_bytes: int = 500_000
    """The most that the saved report of one display may take; 0: none is saved."""
    saves_source: bool = True
    """Whether saved forms hold source if nobody says otherwise."""
    damaged_entries: DamagedPolicy = DamagedPolicy.ASK
    measures_cpu: bool = os.environ.get(MEASURE_CPU, "1") != "0"
    """Whether the ceilings of this machine's CPU are measured when they are first needed."""


class _Now:
    settings = KernelSettings()


def now() -> KernelSettings:
    """The settings in force."""
    return _Now.settings


def change(**values: Any) -> None:
    """Set some of them, by their names in KernelSettings."""
    _Now.settings = replace(_Now.settings, **values)
