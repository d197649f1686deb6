"""What the program takes when it is compiled with another checkpoint policy, or with more arguments donated."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from jaxstage_ext.analysis.cost.work_range import WorkRange
from jaxstage_ext.analysis.memory import memory_wording as wording
from jaxstage_ext.analysis.memory.memory_tables import Kept, saved_bytes
from jaxstage_ext.report.table import Column, Table


@dataclass(frozen=True)
class PolicyTrial:
    """The program compiled with `jax.checkpoint` and a policy around everything that is differentiated."""

    policy: str
    """Its name, "" for the program as written."""
    peak: int
    """Live bytes at the peak of the device's own memory."""
    work: WorkRange
    """FLOPs of one run on one device."""
    memory: Any = field(repr=False, default=None)
    """The compiled program's memory in full."""
    written: PolicyTrial | None = field(repr=False, default=None)
    """The program as written; None of itself."""

    @property
    def flops(self) -> float:
        """FLOPs of one run on one device; NaN where they are a range or unknown."""
        return self.work.counted if self.work.least == self.work.most else math.nan

    @property
    def recomputed(self) -> float:
        """FLOPs that the program as written does not have; NaN where those of either are a range or unknown."""
        return self.flops - (self.written or self).flops

    def __str__(self) -> str:
        taken = [wording.PolicyCost(trial.peak, trial.work) for trial in (self, self.written) if trial is not None]
        return wording.trial(self.policy, *taken)

    __repr__ = __str__


def compared(kept: Mapping[str, Sequence[Kept]], trials: Mapping[str, PolicyTrial]) -> Table:
    """One row per policy; "" is the program as written. The peak and FLOPs are known of those that were compiled."""
    names = list(kept)
    counts = [sum(not array.is_argument for array in arrays) for arrays in kept.values()]
    columns = {
        "policy": Column([name or wording.AS_WRITTEN for name in names]),
        "residuals": Column(
            np.array(list(map(saved_bytes, kept.values())), np.int64),
            "B",
            "of the forward pass, without arguments, on all devices",
        ),
        "arrays": Column(np.array(counts)),
        "peak": Column(_known(names, trials, "peak"), "B", "live bytes per device, compiled with the policy"),
        "FLOPs": Column(_known(names, trials, "flops"), "FLOP", "per device, compiled with the policy"),
        "recomputed": Column(_known(names, trials, "recomputed"), "FLOP", "FLOPs above the program as written"),
    }
    missing = {name: wording.not_compiled(name) for name in names if name not in trials}
    reasons = {(i, column): missing[name] for i, name in enumerate(names) if name in missing for column in _COMPILED}
    for i, name in enumerate(names):
        for column in ("FLOPs", "recomputed") if name in trials and math.isnan(trials[name].recomputed) else ():
            reasons[i, column] = wording.flops_open(trials[name].work)
    return Table("policies", columns, reasons, (wording.RECOMPUTED,))


_COMPILED = ("peak", "FLOPs", "recomputed")


def _known(names: Sequence[str], trials: Mapping[str, PolicyTrial], figure: str) -> list[float]:
    return [float(getattr(trials[name], figure)) if name in trials else math.nan for name in names]


def best(trials: Sequence[PolicyTrial]) -> str:
    """What `jax.checkpoint` does with the policy of the lowest peak among those that were compiled."""
    one = min(trials, key=lambda trial: trial.peak)
    taken, written = (wording.PolicyCost(trial.peak, trial.work) for trial in (one, one.written or one))
    return wording.checkpoint_trial(one.policy, taken, written)


@dataclass(frozen=True)
class DonationTrial:
    """The program compiled with arguments donated that it does not donate."""

    names: tuple[str, ...]
    """These arguments; empty for the program as written."""
    needed: int
    """Bytes allocated in the device's own memory."""
    moved: WorkRange
    """Bytes read and written in one run."""
    unused: tuple[str, ...] = ()
    """Of them, those whose memory no result takes."""
    memory: Any = field(repr=False, default=None)
    """The compiled program's memory in full."""
    written: DonationTrial | None = field(repr=False, default=None)
    """The program as written; None of itself."""

    @property
    def saved(self) -> int:
        """Bytes that the program as written needs beyond this; negative where it needs less."""
        return (self.written or self).needed - self.needed

    def __str__(self) -> str:
        written = self.written or self
        before, now = (wording.NeededAndMoved(one.needed, one.moved) for one in (written, self))
        return wording.donation_trial(self.names, now, before, self.unused)

    __repr__ = __str__
