"""What is wrong with a schedule that XLA dumped."""

from __future__ import annotations

import enum


class ScheduleDamage(enum.Enum):
    """Why a schedule cannot be read."""

    NO_SCHEDULE = "it holds no schedule of a computation"
    DAMAGED = "it is damaged or cut off"
    NO_CLOCK = "it does not say how long a cycle is"
    TIMES = "an instruction ends before it begins, or never"


class UnreadableSchedule(ValueError):
    """A schedule that cannot be read, for the reason `damage`."""

    def __init__(self, damage: ScheduleDamage, what: str = "") -> None:
        self.damage = damage
        super().__init__(f"{damage.value}: {what}" if what else damage.value)
