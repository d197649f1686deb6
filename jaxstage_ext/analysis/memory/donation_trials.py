"""The program compiled with arguments donated: what it needs and moves, beside the program as written."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from jaxstage_ext.analysis.cost.work_range import WorkRange
from jaxstage_ext.analysis.memory import memory_wording as wording


@dataclass(frozen=True)
class DonationTrial:
    """The program compiled with arguments donated that it does not donate.

    Attributes:
      names: these arguments; empty for the program as written.    unused: of them, those whose memory no result takes.
      needed: bytes allocated in the device's own memory.    moved: bytes read and written in one run.
      memory: the compiled program's memory in full.    written: the program as written; None of itself.
    """

    names: tuple[str, ...]
    needed: int
    moved: WorkRange
    unused: tuple[str, ...] = ()
    memory: Any = field(repr=False, default=None)
    written: DonationTrial | None = field(repr=False, default=None)

    @property
    def saved(self) -> int:
        """Bytes that the program as written needs beyond this; negative where it needs less."""
        return (self.written or self).needed - self.needed

    def __str__(self) -> str:
        written = self.written or self
        before, now = (wording.NeededAndMoved(one.needed, one.moved) for one in (written, self))
        return wording.donation_trial(self.names, now, before, self.unused)

    __repr__ = __str__
