"""Checkpoint policies side by side: the residuals of each, and what the program compiled with it takes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from jaxstage_ext.analysis.memory import memory_wording as wording
from jaxstage_ext.analysis.memory.residual_tables import Kept, saved_bytes
from jaxstage_ext.report.table import Column, Table


@dataclass(frozen=True)
class PolicyTrial:
    """The program compiled with `jax.checkpoint` and a policy around everything that is differentiated.

    Attributes:
      policy: its name, "" for the program as written.    peak: live bytes at the peak of the device's own memory.
      flops: known FLOPs of one run on one device.    unknown: how many instructions' FLOPs are unknown.
      memory: the compiled program's memory in full.    written: the program as written; None of itself.
    """

    policy: str
    peak: int
    flops: float
    unknown: int
    memory: Any = field(repr=False, default=None)
    written: PolicyTrial | None = field(repr=False, default=None)

    @property
    def recomputed(self) -> float:
        """FLOPs that the program as written does not have; NaN where some are unknown."""
        if self.written is None:
            return 0.0
        return math.nan if self.unknown or self.written.unknown else self.flops - self.written.flops

    def __str__(self) -> str:
        return wording.trial(self.policy, _taken(self), _taken(self.written) if self.written else None)

    __repr__ = __str__


def _taken(trial: PolicyTrial) -> wording.Taken:
    return wording.Taken(trial.peak, trial.flops, trial.unknown)


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
    unknown = {name: trial.unknown for name, trial in trials.items() if math.isnan(trial.recomputed)}
    reasons |= {
        (i, "recomputed"): wording.flops_unknown(unknown[name]) for i, name in enumerate(names) if name in unknown
    }
    return Table("policies", columns, reasons, (wording.RECOMPUTED,))


_COMPILED = ("peak", "FLOPs", "recomputed")


def _known(names: Sequence[str], trials: Mapping[str, PolicyTrial], figure: str) -> list[float]:
    return [float(getattr(trials[name], figure)) if name in trials else math.nan for name in names]
