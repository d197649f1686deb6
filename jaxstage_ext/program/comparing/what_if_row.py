"""One set of XLA flags that a program was compiled with: its figures, and what they changed."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from jaxstage_ext.core.options.trial_flag_help import ESTIMATOR, effect_of
from jaxstage_ext.program.device.device_roofline import device_roofline
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.causeless_collectives import causeless_collectives
from jaxstage_ext.program.questions.memory import memory_needed
from jaxstage_ext.program.questions.predicted import predicted
from jaxstage_ext.report.prediction import Prediction
from jaxstage_ext.report.unavailable import Unavailable

_MOST_NAMED = 3


class TrialEnd(enum.Enum):
    """How the compile with a set of flags ended."""

    COMPILED = "compiled"
    FAILED = "failed"
    NO_TIME = "not tried: the time was over"
    INTERRUPTED = "not tried: interrupted"


@dataclass(frozen=True, eq=False)
class ScheduleCounts:
    """What a module has of what flags change.

    Attributes:
      collectives: how many of each kind.    asynchronous: how many of them other work may overlap with.
    """

    collectives: Mapping[str, int]
    asynchronous: int
    fusions: int


@dataclass(frozen=True, eq=False)
class WhatIfRow:
    """One set of flags.

    Attributes:
      options: beside those of the call; empty for the program as it is.    end: how its compile ended.
      program: as compiled with them; None where it was not.    why: of a compile that failed.
    """

    label: str
    options: Mapping[str, Any]
    end: TrialEnd
    program: Program | None = field(default=None, repr=False)
    why: str = ""

    @property
    def effect(self) -> str:
        """What the flags do; "" where nobody wrote that down."""
        return effect_of(self.options)

    @cached_property
    def _estimate(self) -> tuple[Prediction | None, str]:
        if self.program is None:
            return None, self.why or self.end.value
        try:
            made = predicted(self.program).recording.prediction
        except Unavailable as reason:
            return None, str(reason)
        unknown = made is not None and made.seconds is None
        return made, f"XLA gives no time of {', '.join(made.unknown[:_MOST_NAMED])}" if made and unknown else ""

    @property
    def prediction(self) -> Prediction | None:
        """What XLA's estimate rests on, with its seconds; None where there is none."""
        return self._estimate[0]

    @property
    def why_no_estimate(self) -> str:
        return self._estimate[1]

    @property
    def is_comparable(self) -> bool:
        """Whether its estimate is made as the others are."""
        return not ESTIMATOR & self.options.keys()

    @property
    def seconds(self) -> float | None:
        """XLA's estimate of one call."""
        return self.prediction.seconds if self.prediction else None

    @property
    def exposed(self) -> float | None:
        """Seconds in which collectives run and nothing hides them, by XLA's estimate."""
        return self.prediction.exposed if self.prediction else None

    @cached_property
    def bound(self) -> float | None:
        """The lower bound of one call in seconds; None where it is unknown."""
        return device_roofline(self.program).total or None if self.program is not None else None

    @cached_property
    def memory(self) -> int | None:
        """Bytes that XLA allocates on one device."""
        return memory_needed(self.program) if self.program is not None else None

    @cached_property
    def counts(self) -> ScheduleCounts | None:
        """Its collectives and fusions; None where it was not compiled."""
        if self.program is None:
            return None
        ops = [row.op for row in causeless_collectives(self.program).rows]
        overlapping = sum(op.start != op.done and not op.synchronous for op in ops)
        fusions = int(np.count_nonzero(self.program.module.opcode == b"fusion"))
        return ScheduleCounts(Counter(op.kind for op in ops), overlapping, fusions)

    def is_same_as(self, base: WhatIfRow) -> bool:
        """Whether XLA made the same module of both."""
        texts = [row.program.executable.as_text() if row.program is not None else None for row in (self, base)]
        return texts[0] is not None and texts[0] == texts[1]

    @property
    def rank(self) -> tuple[int, float, float]:
        """By which rows are ordered: estimates that can be compared, then bounds, then what was not compiled."""
        if self.program is None:
            return (3, 0.0, 0.0)
        if self.seconds is not None and self.is_comparable:
            return (0, self.seconds, float(self.memory or 0))
        return (1 if self.is_comparable else 2, self.bound or float("inf"), float(self.memory or 0))
