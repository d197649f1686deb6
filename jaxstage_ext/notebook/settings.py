"""The settings of `%config JAXStage`."""

from __future__ import annotations

import math
import os
from typing import Any

from traitlets import Bool, Enum, Int, TraitError, Unicode, observe, validate
from traitlets.config import SingletonConfigurable

from jaxstage_ext.compilation.events import listening
from jaxstage_ext.report import kernel_settings
from jaxstage_ext.report.kernel_settings import DamagedPolicy, KernelSettings
from jaxstage_ext.store import cache as inspection_cache
from jaxstage_ext.worker import memory_limit


class JAXStage(SingletonConfigurable):
    """Settings of JAXStage; `%config JAXStage.most_panels = 8` changes one."""

    most_panels = Int(
        64, min=1, max=1000, help="Number of live panels that a kernel keeps; older panels turn static."
    ).tag(config=True)

    cache = Bool(
        True, help="Whether to reuse the results of earlier compiles and analyses; False compiles every time."
    ).tag(config=True)

    cache_dir = Unicode(
        os.environ.get(inspection_cache.FOLDER, ""),
        help="Folder for cached results of cross-compilation, kept for later kernels; empty means memory only. "
        f"The environment variable {inspection_cache.FOLDER} sets its default.",
    ).tag(config=True)

    cache_gigabytes = Int(
        1, min=1, max=1000, help="Size limit of cache_dir, in GB; the oldest results are deleted first."
    ).tag(config=True)

    memory = Unicode(
        "", help="Memory limit of a worker compile, for example 8GB; empty means half of the machine's memory."
    ).tag(config=True)

    large_program = Int(
        KernelSettings.large_program,
        min=0,
        help="Number of StableHLO operations above which %compile and inspect() compile for this kernel's CPU in a "
        "worker, whose memory is limited, so that XLA cannot exhaust the kernel's memory; --no-isolate turns this off.",
    ).tag(config=True)

    cpu_ceilings = Unicode(
        "",
        help="Peaks of this machine's CPU, set by hand: 'f32=200G, f64=100G, memory=50G' in FLOP/s and bytes per "
        "second; empty means what %targets --measure measured.",
    ).tag(config=True)

    measure_cpu = Bool(
        KernelSettings.measures_cpu,
        help="Whether to measure the peaks of this machine's CPU, roughly and in about a second, the first time a "
        "verdict needs them and no cell runs; False leaves that to %targets --measure. The environment variable "
        f"{kernel_settings.MEASURE_CPU}=0 turns it off too.",
    ).tag(config=True)

    save_source = Bool(
        True,
        help="Whether saved notebooks, offline pages and JSON hold the source of the functions that took part; False "
        "leaves their text out and keeps line numbers and the names of functions.",
    ).tag(config=True)

    saved_kilobytes = Int(
        KernelSettings.saved_bytes // 1000,
        min=0,
        max=100_000,
        help="Size limit of the report that each display saves in the notebook, in kB; 0 saves the static forms alone.",
    ).tag(config=True)

    compile_log = Bool(
        True, help="Whether to record what JAX traces, lowers and compiles, and why; %compiles shows it."
    ).tag(config=True)

    compile_notice = Bool(
        True,
        help="Show a one-line note below a cell that spent more than a second recompiling for an avoidable reason.",
    ).tag(config=True)

    finding_notice = Bool(
        False,
        help="Show the best finding of what a cell compiled in one line below it, also below cells without a magic.",
    ).tag(config=True)

    damaged_cache_entries = Enum(
        [policy.value for policy in DamagedPolicy],
        DamagedPolicy.ASK.value,
        help="What happens to a damaged entry of JAX's persistent compilation cache before JAX reads it: 'ask' warns, "
        "'set aside' renames it, so that JAX compiles its program and writes it again.",
    ).tag(config=True)

    @validate("memory")
    def _size(self, proposal: Any) -> str:
        try:
            memory_limit.bytes_of(proposal["value"] or "1B")
        except ValueError as error:
            raise TraitError(str(error)) from None
        return str(proposal["value"])

    @validate("cpu_ceilings")
    def _ceilings(self, proposal: Any) -> str:
        try:
            parse(proposal["value"])
        except ValueError as error:
            raise TraitError(str(error)) from None
        return str(proposal["value"])

    @observe("cpu_ceilings")
    def _use_ceilings(self, change: Any) -> None:
        from jaxstage_ext.core.targets import machine_ceilings

        given = parse(self.cpu_ceilings)
        machine_ceilings.set_by_hand(machine_ceilings.by_hand(given) if given else None)

    @observe("damaged_cache_entries")
    def _choose_policy(self, change: Any) -> None:
        kernel_settings.change(damaged_entries=DamagedPolicy(self.damaged_cache_entries))

    @observe("measure_cpu")
    def _may_measure(self, change: Any) -> None:
        kernel_settings.change(measures_cpu=self.measure_cpu)

    @observe("memory")
    def _limit(self, change: Any) -> None:
        kernel_settings.change(worker_memory=memory_limit.bytes_of(self.memory) if self.memory else None)

    @observe("large_program")
    def _limit_here(self, change: Any) -> None:
        kernel_settings.change(large_program=self.large_program)

    @observe("save_source")
    def _keep_source(self, change: Any) -> None:
        kernel_settings.change(saves_source=self.save_source)

    @observe("saved_kilobytes")
    def _limit_saved(self, change: Any) -> None:
        kernel_settings.change(saved_bytes=self.saved_kilobytes * 1000)

    @observe("compile_log")
    def _listen(self, change: Any) -> None:
        listening.start() if self.compile_log else listening.stop()

    @observe("cache")
    def _enable(self, change: Any) -> None:
        inspection_cache.enable(self.cache)

    @observe("cache_dir", "cache_gigabytes")
    def _use_folder(self, change: Any) -> None:
        inspection_cache.use_folder(self.cache_dir or None, self.cache_gigabytes * 1_000_000_000)

    def undo(self) -> None:
        """Give every setting its default again, and what it set."""
        for name, trait in self.traits(config=True).items():
            setattr(self, name, trait.default(self))


NAMES = ("f32", "f64", "bf16", "f16", "s8", "memory")
_PREFIXES = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


def parse(text: str) -> dict[str, float]:
    """The rates by name, in FLOP/s and bytes per second. Raises ValueError, in one line, for anything else."""
    rates: dict[str, float] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = (word.strip() for word in part.partition("="))
        if name not in NAMES or name in rates:
            raise ValueError(f"{part!r}: name each of {', '.join(NAMES)} at most once, as in f32=200G")
        rates[name] = _rate(value, part)
    return rates


def _rate(text: str, part: str) -> float:
    factor = _PREFIXES.get(text[-1:], 1.0)
    try:
        rate = float(text[:-1] if text[-1:] in _PREFIXES else text) * factor
    except ValueError:
        rate = 0.0
    if not (0 < rate < 1e24 and math.isfinite(rate)):
        raise ValueError(f"{part!r} is not a rate such as f32=200G, in FLOP/s, or memory=50G, in bytes per second")
    return rate
