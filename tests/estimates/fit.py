"""Factors of what each ceiling takes at least, fitted to measured programs, and how far predictions by them are off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import nnls

from tests.estimates.comparison import Compared

Floats = npt.NDArray[np.float64]
QUANTILES = (0.05, 0.95)
"""Of measured over predicted: between them lies the interval."""
_ROUNDS, _CLOSE = 30, 0.05


@dataclass(frozen=True)
class Fit:
    """What was fitted, and how well it predicts programs that it was not fitted to.

    Attributes:
      factors: in the order of `CpuWork.columns`.    ratios: of the interval's ends to the predicted time.
      median: error of programs, each predicted from the others; 0.3: 30%.    held: the share of intervals that did.
    """

    factors: tuple[float, ...]
    ratios: tuple[float, float]
    median: float
    held: float


def fit(programs: Sequence[Compared]) -> Fit:
    """The factors of these programs; errors from leaving out one program at a time."""
    work = np.array([one.work.columns for one in programs])
    seconds = np.array([one.seconds for one in programs])
    factors = _factors(work, seconds)
    errors, held = [], []
    for left_out in range(len(programs)):
        others = np.arange(len(programs)) != left_out
        own = _factors(work[others], seconds[others])
        low, high = _ratios(work[others], seconds[others], own)
        predicted, measured = float(work[left_out] @ own), float(seconds[left_out])
        errors.append(abs(predicted - measured) / measured)
        held.append(low * predicted <= measured <= high * predicted)
    ratios = _ratios(work, seconds, factors)
    return Fit(tuple(factors.tolist()), ratios, float(np.median(errors)), float(np.mean(held)))


def _factors(work: Floats, seconds: Floats) -> Floats:
    """Factors of at least 0 with the least sum of absolute logarithms of the errors, by reweighted least squares."""
    weights = np.ones(len(seconds))
    for _ in range(_ROUNDS):
        found, _ = nnls(work / seconds[:, None] * weights[:, None], weights)
        weights = np.maximum(np.abs(np.log(np.maximum(work @ found, 1e-12) / seconds)), _CLOSE) ** -0.5
    return found


def _ratios(work: Floats, seconds: Floats, factors: Floats) -> tuple[float, float]:
    low, high = np.quantile(seconds / (work @ factors), QUANTILES)
    return float(low), float(high)
