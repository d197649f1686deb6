"""How fast the units of a device compute: its peaks, and bounds where a peak is unknown."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple, Protocol

from jaxstage_ext.analysis.cost.rules.arithmetic import Unit, UnitKind


class Ceilings(Protocol):
    """The figures of `core.devices.Device` that a roofline needs."""

    @property
    def title(self) -> str: ...
    @property
    def flops(self) -> Mapping[str, float]: ...
    @property
    def vector(self) -> Mapping[str, float]: ...
    @property
    def bandwidth(self) -> float | None: ...
    @property
    def functions(self) -> tuple[tuple[float, float], ...]: ...
    @property
    def cache(self) -> int | None: ...
    @property
    def cache_bandwidth(self) -> float | None: ...
    @property
    def measured(self) -> bool: ...


class Rate(NamedTuple):
    """Operations a second that a unit reaches at its peak: at least `slow`, at most `fast`."""

    slow: float
    fast: float

    @property
    def is_known(self) -> bool:
        return self.slow == self.fast


UNKNOWN = Rate(0.0, math.inf)
_FUNCTION_COST = {"tpu": (16, 32, 256), "cuda": (64, 128, 512)}
"""Vector operations that a transcendental function takes at most, by its hardness; at least it takes one.

TPU: libtpu's estimated cycles of chains of each function on v5e, four operations a cycle: exponential, log, tanh,
logistic, rsqrt 10, erf 22, sine, cosine and tan 172. GPU: a bound above the code that XLA takes from libdevice, sine
with its slow path for large arguments; a multiply-add is two operations.
"""
_SLOWER_IN_OTHERS = 16
"""How many times longer than in f32 a function may take in f64, or in bf16 with its conversions, on a CPU."""
_LEAST_ALUS = 4096 * 1.5e9
"""Of TPUs whose vector unit is not published: TPU v5e's, an earlier one with as many lanes."""
_TWICE_ON_TPUS = ("f8e5m2", "f8e4m3b11fnuz")
"""Multiplied at up to twice the bf16 rate from v5e on, by libtpu's estimated cycles; no peak is published."""
_OTHER_DTYPES = {"s32": (1 / 4, 1), "f64": (1 / 128, 1 / 2), "bf16": (1 / 4, 4), "f16": (1 / 4, 4)}
"""Of a GPU without a published peak: bounds relative to f32, by the CUDA C++ Programming Guide."""


def rate(unit: Unit, device: Ceilings, platform: str) -> Rate:
    """The rate of a unit in operations of the program, with all passes; `platform` is "cpu", "tpu" or "cuda"."""
    if not unit.dtype:
        return UNKNOWN
    if unit.kind is UnitKind.MATRIX:
        whole = _matrix(unit.dtype, device.flops, platform)
        return Rate(whole.slow / unit.passes, whole.fast / unit.passes)
    vector = _vector(unit.dtype, device.vector, platform)
    if unit.kind is UnitKind.FUNCTION and device.functions:
        slow, fast = device.functions[unit.hardness]
        return Rate(slow / (1 if unit.dtype == "f32" else _SLOWER_IN_OTHERS), fast)
    if unit.kind is UnitKind.FUNCTION:
        costs = _FUNCTION_COST.get(platform, _FUNCTION_COST["cuda"])
        return Rate(vector.slow / costs[unit.hardness], vector.fast)
    return vector


def _matrix(dtype: str, peaks: Mapping[str, float], platform: str) -> Rate:
    if platform == "tpu" and "bf16" in peaks:
        return _tpu_matrix(dtype, peaks)
    if dtype == "f8" and dtype not in peaks:
        return _known(peaks.get("f16"))
    return _known(peaks.get(dtype))


def _tpu_matrix(dtype: str, peaks: Mapping[str, float]) -> Rate:
    """Without a published peak, narrow dtypes are multiplied as bf16."""
    if dtype.startswith("f8"):
        slow = peaks.get("f8", peaks["bf16"])
        return Rate(slow, max(slow, peaks.get("s8", 0.0)) if dtype in _TWICE_ON_TPUS else slow)
    if dtype in ("s8", "s4"):
        return _known(peaks.get(dtype, peaks.get("s8", peaks["bf16"])))
    return _known(peaks.get(dtype))


def _vector(dtype: str, peaks: Mapping[str, float], platform: str) -> Rate:
    if dtype in peaks:
        return _known(peaks[dtype])
    if platform == "tpu" and not peaks:
        return Rate(_LEAST_ALUS, math.inf) if dtype in ("f32", "s32", "bf16", "f16") else UNKNOWN
    if "f32" in peaks and dtype in _OTHER_DTYPES and platform == "cuda":
        slow, fast = _OTHER_DTYPES[dtype]
        return Rate(peaks["f32"] * slow, peaks["f32"] * fast)
    return UNKNOWN


def _known(peak: float | None) -> Rate:
    return UNKNOWN if peak is None else Rate(peak, peak)
