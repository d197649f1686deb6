"""The ceilings of this machine's CPU, which no catalogue has: measured on request, or set by hand.

They are kept for each machine in the inspection cache, by the CPU's model, the cores that this process may use, the
versions of JAX and jaxlib, and XLA_FLAGS.
"""

from __future__ import annotations

import functools
import os
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from jaxstage_ext.core.targets.catalogue import Device
from jaxstage_ext.report.table import Column, Table
from jaxstage_ext.report.text.units import plural, scaled
from jaxstage_ext.report.text.units import share as percent
from jaxstage_ext.store import cache

_FORMAT = "2"
ROUGH = 0.5
"""How much less than an exact one a quick measurement may be, on a quiet machine, since filling the arrays counts too.

Products and memory were 0.45 to 0.92 of exact ones in ten of ten.
"""
_BUSY = "Other programs were running (load {load:.1f} on {cores}), so these may be too low; measure when it is quiet."
_OTHER_VECTORS = ("bf16", "f16", "s32")
"""Dtypes that XLA's CPU backend computes element by element as f32, or with as many lanes."""


@dataclass(frozen=True, repr=False)
class MachineCeilings:
    """How fast this machine's CPU computes and moves data through XLA, with all cores that this process may use."""

    products: Mapping[str, float] = field(default_factory=dict)
    """FLOP/s (op/s of s8) of matrix products, by dtype."""
    bandwidth: float | None = None
    """Bytes per second of arrays larger than the caches."""
    cache: int | None = None
    """Bytes of the last level of cache."""
    cache_bandwidth: float | None = None
    """Bytes per second of arrays that fit."""
    functions: tuple[tuple[float, float], ...] = ()
    """Transcendental functions of f32 per second by how hard they are: (at least, at most)."""
    cpu: str = ""
    """Model."""
    cores: int = 0
    """That this process may use."""
    date: str = ""
    """When it was measured; "" where it was set by hand."""
    load: float = 0.0
    """Processes that wanted a core when the measurement began (the system's load average)."""
    quick: float = 0.0
    """Seconds that a quick measurement took, whose rates are rough; 0 where they are exact or set by hand."""

    @property
    def was_busy(self) -> bool:
        """Whether other programs wanted more than half of the cores during the measurement."""
        return self.load > self.cores / 2

    @property
    def source(self) -> str:
        """`measured on this machine, 2026-11-22`, with how long that took where it was quick; or `set by hand`."""
        return f"{self._how} on this machine, {self.date}" if self.date else "set by hand"

    @property
    def _how(self) -> str:
        """`measured`, or `measured in 0.8 s, within about 25%`; while other programs ran, the rates may be higher."""
        if not self.quick:
            return "measured"
        sure = "while it was busy" if self.was_busy else f"up to about {percent(ROUGH)} too low"
        return f"measured in {self.quick:.1f} s, {sure}"

    @property
    def table(self) -> Table:
        """One row a ceiling: its rate, and what it bounds."""
        rows = [(f"{dtype} products", scaled(peak, _unit(dtype))) for dtype, peak in self.products.items()]
        if self.bandwidth:
            rows.append(("memory", scaled(self.bandwidth, "B/s")))
        if self.cache and self.cache_bandwidth:
            rows.append((f"caches ({scaled(self.cache, 'B')})", scaled(self.cache_bandwidth, "B/s")))
        columns = {"ceiling": [name for name, _ in rows], "rate": [rate for _, rate in rows]}
        whose = f"{self.cpu}, {plural(self.cores, 'core')}, through XLA; {self.source}" if self.cores else self.source
        busy = (_BUSY.format(load=self.load, cores=plural(self.cores, "core")),) if self.was_busy else ()
        return Table("ceilings", {name: Column(values) for name, values in columns.items()}, notes=(whose, *busy))

    def __str__(self) -> str:
        return str(self.table)

    __repr__ = __str__

    @property
    def _short_source(self) -> str:
        if self.quick:
            return self._how
        return f"measured {self.date}" if self.date else "set by hand"

    def device(self, sharing: int = 1) -> Device:
        """The figures of one CPU device; devices that run a program together share the machine's."""
        f32 = self.products.get("f32")
        vector = {dtype: peak for dtype, peak in self.products.items() if dtype in ("f32", "f64")}
        vector |= dict.fromkeys(_OTHER_VECTORS, f32) if f32 else {}
        title = "this machine's CPU" if sharing == 1 else f"1/{sharing:,} of this machine's CPU"
        whole = Device(
            f"{title} ({self._short_source})",
            self.products,
            bandwidth=self.bandwidth,
            vector=vector,
            functions=self.functions,
            cache=self.cache,
            cache_bandwidth=self.cache_bandwidth,
            measured=True,
        )
        return whole if sharing == 1 else _shared(whole, sharing)


def _unit(dtype: str) -> str:
    return "op/s" if dtype.startswith("s") else "FLOP/s"


def _shared(whole: Device, sharing: int) -> Device:
    """What one of several devices that compute at the same time has on average."""
    part = 1 / sharing
    return replace(
        whole,
        flops={dtype: peak * part for dtype, peak in whole.flops.items()},
        vector={dtype: peak * part for dtype, peak in whole.vector.items()},
        functions=tuple((slow * part, fast * part) for slow, fast in whole.functions),
        bandwidth=whole.bandwidth and whole.bandwidth * part,
        cache=whole.cache and int(whole.cache * part),
        cache_bandwidth=whole.cache_bandwidth and whole.cache_bandwidth * part,
    )


def best_of(first: MachineCeilings, second: MachineCeilings) -> MachineCeilings:
    """The higher of two measurements of this machine, each of which may have been slowed; otherwise the first."""
    functions = zip(first.functions, second.functions, strict=False)
    return replace(
        first,
        products={dtype: max(rate, second.products.get(dtype, 0.0)) for dtype, rate in first.products.items()},
        bandwidth=max(first.bandwidth or 0.0, second.bandwidth or 0.0) or None,
        cache_bandwidth=max(first.cache_bandwidth or 0.0, second.cache_bandwidth or 0.0) or None,
        functions=tuple((max(a[0], b[0]), max(a[1], b[1])) for a, b in functions) or first.functions,
    )


class _Ceilings:
    by_hand: MachineCeilings | None = None
    measured: MachineCeilings | None = None
    quick: MachineCeilings | None = None


def of_this_machine() -> MachineCeilings | None:
    """What was set by hand, else what was measured here, else measured quickly; None where nothing was done."""
    return _Ceilings.by_hand or measured_before() or quick_before()


def measured_before() -> MachineCeilings | None:
    """What was measured here, now or earlier, whatever was set by hand."""
    if _Ceilings.measured is None:
        _Ceilings.measured = cache.load(_key(), _read)
    return _Ceilings.measured


def quick_before() -> MachineCeilings | None:
    """What was measured quickly, now or earlier, whatever else is known."""
    if _Ceilings.quick is None:
        _Ceilings.quick = cache.load(quick_key(), _read)
    return _Ceilings.quick


def keep_quick(measured: MachineCeilings) -> None:
    """Use these until there are exact ones; for later kernels too unless the machine was busy."""
    _Ceilings.quick = measured
    if not measured.was_busy:
        cache.store(quick_key(), asdict(measured) | {"products": dict(measured.products)})


def keep(measured: MachineCeilings) -> None:
    """Use these from now on, and keep them for later kernels where the inspection cache has a folder."""
    _Ceilings.measured = measured
    cache.store(_key(), asdict(measured) | {"products": dict(measured.products)})


def by_hand(rates: Mapping[str, float]) -> MachineCeilings:
    """Ceilings of the user's: FLOP/s by dtype, and "memory" in bytes per second."""
    products = {dtype: rate for dtype, rate in rates.items() if dtype != "memory"}
    return MachineCeilings(products, rates.get("memory"))


def set_by_hand(ceilings: MachineCeilings | None) -> None:
    """Use these whatever was measured; None for what was measured."""
    _Ceilings.by_hand = ceilings


def forget() -> None:
    """As if nothing had been measured or set."""
    _Ceilings.by_hand = _Ceilings.measured = _Ceilings.quick = None
    cache.remove(_key())
    cache.remove(quick_key())


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@functools.cache
def cpu_model() -> str:
    """The model of the CPU as the system names it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.machine()


def quick_key() -> str:
    """The key of what is measured quickly: of this machine, its CPU, the cores of this process, jax and jaxlib."""
    return _key("quick machine ceilings")


def _key(kind: str = "machine ceilings") -> str:
    affinity = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    machine = (platform.node(), cpu_model(), str(affinity or os.cpu_count()))
    return cache.key(kind, _FORMAT, *machine, os.environ.get("XLA_FLAGS", ""))


def _read(head: dict[str, Any], parts: list[bytes]) -> MachineCeilings:
    functions = tuple((float(slow), float(fast)) for slow, fast in head.pop("functions"))
    products = {str(dtype): float(peak) for dtype, peak in head.pop("products").items()}
    return MachineCeilings(products=products, functions=functions, **head)
