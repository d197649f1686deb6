"""Whether the device has room for a program."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

GPU_SHARE = 0.75
"""Share of a GPU's memory that JAX preallocates by default: docs.jax.dev, "GPU memory allocation"."""
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_OOM = re.compile(r"\(([\d.]+)([KMGT]?)i?B?\) exceeds available HBM \(([\d.]+)([KMGT]?)i?B?\)")


class DeviceMemory(NamedTuple):
    """The device that a program is meant for: its title, and its bytes of memory or why they are unknown."""

    title: str
    memory: int | None
    reason: str = ""


class Verdict(Enum):
    """What is known about the room that a program has on its device."""

    FITS = "fits"
    DOES_NOT_FIT = "does not fit"
    REFUSED = "the compiler refused it"
    COMPILED = "a compiler that refuses what does not fit compiled it"
    UNKNOWN = "unknown"


_FITS = {Verdict.FITS: True, Verdict.COMPILED: True, Verdict.DOES_NOT_FIT: False, Verdict.REFUSED: False}


@dataclass(frozen=True)
class Fit:
    """Whether a program fits on its device.

    Attributes:
      needed: bytes that the device must hold.    room: bytes that it has, None where unknown.
      exceeds_preallocation: whether it needs more than JAX preallocates on a GPU.
      text: the same in one sentence.
    """

    verdict: Verdict
    needed: int
    room: int | None
    exceeds_preallocation: bool = False
    text: str = ""

    @property
    def fits(self) -> bool | None:
        """None where it is unknown."""
        return _FITS.get(self.verdict)


def exceeded(error: str) -> tuple[int, int] | None:
    """(bytes needed, bytes available) in libtpu's out-of-memory error, both rounded; None for any other text."""
    match = _OOM.search(error)
    if match is None:
        return None
    needed, available = (round(float(match[i]) * _UNITS.get(match[i + 1], 1)) for i in (1, 3))
    return needed, available


def read(needed: int, device: DeviceMemory, platform: str, error: str | None = None) -> Fit:
    """Compare the bytes a program needs with its device's; `error` is what XLA raised where the compile failed."""
    if refused := exceeded(error or ""):
        return Fit(Verdict.REFUSED, needed, refused[1])
    if device.memory is None:
        compiled = platform == "tpu" and not error  # libtpu refuses what does not fit
        return Fit(Verdict.COMPILED if compiled else Verdict.UNKNOWN, needed, None)
    fits = needed <= device.memory
    verdict = Verdict.FITS if fits else Verdict.DOES_NOT_FIT
    preallocated = GPU_SHARE * device.memory
    return Fit(verdict, needed, device.memory, platform == "cuda" and fits and needed > preallocated)
