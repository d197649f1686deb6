"""Whether the device has room for a program: the one verdict that every view shows."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum, StrEnum
from typing import NamedTuple

from jaxstage_ext.analysis.memory.spaces import Space

GPU_SHARE = 0.75
"""Share of a GPU's memory that JAX takes by default: docs.jax.dev, "GPU memory allocation"."""
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_OOM = re.compile(r"\(([\d.]+)([KMGT]?)i?B?\) exceeds available HBM \(([\d.]+)([KMGT]?)i?B?\)")


class DeviceMemory(NamedTuple):
    """The device that a program is meant for: its title, and its bytes of memory or why they are unknown."""

    title: str
    memory: int | None
    reason: str = ""


class FitVerdict(Enum):
    """What is known about the room that a program has on its device."""

    FITS = "fits"
    FITS_IN_MORE = "fits in more of the GPU's memory than JAX takes by default"
    DOES_NOT_FIT = "does not fit"
    REFUSED = "the compiler refused it"
    COMPILED = "a compiler that refuses what does not fit compiled it"
    UNKNOWN = "unknown"


class Fits(StrEnum):
    """The answer to "does it fit?"."""

    YES = "yes"
    WITH_SETTING = "only with a setting"
    NO = "no"
    UNKNOWN = "unknown"


_ANSWERS = {
    FitVerdict.FITS: Fits.YES,
    FitVerdict.COMPILED: Fits.YES,
    FitVerdict.FITS_IN_MORE: Fits.WITH_SETTING,
    FitVerdict.DOES_NOT_FIT: Fits.NO,
    FitVerdict.REFUSED: Fits.NO,
    FitVerdict.UNKNOWN: Fits.UNKNOWN,
}
_POSSIBLE = {Fits.YES: True, Fits.WITH_SETTING: True, Fits.NO: False, Fits.UNKNOWN: None}


@dataclass(frozen=True)
class Fit:
    """Whether a program fits on its device."""

    verdict: FitVerdict
    needed: int | None
    """Bytes that the device must hold, None where unknown."""
    room: int | None
    """Bytes that it has, None where unknown."""
    reason: str = ""
    """Why it is unknown, "" otherwise."""
    bound: int | None = None
    """Where `needed` is unknown, the least of it if the program does not fit, the most if it does."""
    text: str = ""
    """The same in one sentence."""

    @property
    def answer(self) -> Fits:
        """Yes, only with a setting of JAX, no, or unknown."""
        return _ANSWERS[self.verdict]

    @property
    def fits(self) -> bool | None:
        """Whether it can fit, with a setting of JAX if it must be; None where it is unknown."""
        return _POSSIBLE[self.answer]

    @property
    def fraction(self) -> float | None:
        """The share of a GPU's memory that JAX must take for it, in hundredths, rounded up; None where unknown."""
        if self.needed is None or not self.room:
            return None
        return math.ceil(100 * self.needed / self.room) / 100


def exceeded(error: str) -> tuple[int, int] | None:
    """(bytes needed, bytes available) in libtpu's out-of-memory error, both rounded; None for any other text."""
    match = _OOM.search(error)
    if match is None:
        return None
    needed, available = (round(float(match[i]) * _UNITS.get(match[i + 1], 1)) for i in (1, 3))
    return needed, available


def allocated(stats: Mapping[str, int], platform: str) -> int | None:
    """The bytes of a device's memory that an executable takes, by XLA's statistics; None where they do not say.

    They are arguments, results, temporaries and constants: the sum of its buffer assignment's allocations in that
    memory. Of a TPU its code as well. JAX 0.10 has the total on CPUs alone, where XLA's peak leaves out temporaries.
    """
    total = stats.get("total_allocation_bytes")
    if total is None and stats and platform == "cpu":
        total = stats.get("peak_memory_in_bytes", 0) + stats.get("temp_size_in_bytes", 0)
    if total is None or (not total and any(stats.values())):
        return None
    return total + (stats.get("generated_code_size_in_bytes", 0) if platform == "tpu" else 0)


def replayed(space: Space, stats: Mapping[str, int], platform: str) -> int:
    """All bytes of the device's own memory by the buffer assignment, on a TPU with its code."""
    code = stats.get("generated_code_size_in_bytes", 0) + space.local if platform == "tpu" else 0
    return space.reserved + code


def without_constants(stats: Mapping[str, int]) -> int:
    """What an executable takes on a GPU without its constants, which JAX 0.10's statistics leave out."""
    parts = ("argument_size_in_bytes", "output_size_in_bytes", "temp_size_in_bytes")
    return sum(stats.get(part, 0) for part in parts) - stats.get("alias_size_in_bytes", 0)


def read(needed: int | None, device: DeviceMemory, platform: str, error: str | None = None) -> Fit:
    """Compare the bytes a program needs with its device's.

    `platform` is "cpu", "tpu" or "cuda"; `error` is what XLA raised where the compile failed.
    """
    if refused := exceeded(error or ""):
        return Fit(FitVerdict.REFUSED, needed, refused[1])
    if platform == "tpu" and not error and (needed is None or device.memory is None):
        return Fit(FitVerdict.COMPILED, needed, device.memory)  # libtpu refuses what does not fit
    if needed is None:
        return Fit(FitVerdict.UNKNOWN, None, device.memory)
    if device.memory is None:
        return Fit(FitVerdict.UNKNOWN, needed, None, device.reason)
    if needed > device.memory:
        return Fit(FitVerdict.DOES_NOT_FIT, needed, device.memory)
    is_more = platform == "cuda" and needed > GPU_SHARE * device.memory
    return Fit(FitVerdict.FITS_IN_MORE if is_more else FitVerdict.FITS, needed, device.memory)


def read_between(least: int, most: int, device: DeviceMemory, platform: str) -> Fit:
    """The verdict on a program that needs something between two figures; unknown where it depends on which."""
    low, high = (read(needed, device, platform) for needed in (least, most))
    if low.verdict is not high.verdict or low.verdict is FitVerdict.FITS_IN_MORE:
        return Fit(FitVerdict.UNKNOWN, None, device.memory)
    return replace(low, needed=None, bound=least if low.verdict is FitVerdict.DOES_NOT_FIT else most)
