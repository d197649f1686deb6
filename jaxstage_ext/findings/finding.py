"""What one finding is: what is so, where, what it costs, the change to make, and how to try that change."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from jaxstage_ext.core.stage.staged import Staged
from jaxstage_ext.findings.finding_kind import FindingKind


class StakeMeasure(enum.Enum):
    """What a change saves; the value is what the whole is called."""

    unit: str

    def __new__(cls, whole: str, unit: str) -> StakeMeasure:
        made = object.__new__(cls)
        made._value_, made.unit = whole, unit
        return made

    TIME = "the lower bound", "s"
    """Seconds of the roofline's lower bound of one run."""
    MEMORY = "the memory needed", "B"
    """Bytes that the executable's buffers take on one device."""
    MOVED = "the bytes moved", "B"
    """Bytes read and written in one run on one device."""
    SENT = "the bytes sent", "B"
    """Bytes that each device sends in one run."""
    FLOPS = "the FLOPs", "FLOP"
    """Operations of one run on one device."""
    COMPILE = "the compile time", "s"
    """Seconds of tracing, lowering and compiling."""
    HOST = "the host time of a call", "s"
    """Seconds that Python and JAX take for one call."""
    LAUNCHES = "the kernel launches", "launches"
    """Kernels that a GPU is given in one run."""
    DISPATCHES = "the dispatches of a call", "dispatches"
    """Operations that Python hands to the device one by one in one call."""
    RESULT = "the result", ""
    """No saving: what is computed may not be what is meant."""
    REPEATABILITY = "what two runs give", ""
    """No saving: the last bits of a result differ from run to run."""


@dataclass(frozen=True)
class Stake:
    """What there is to gain: between `least` and `most` of `whole`, in the unit of the measure; None unknown."""

    measure: StakeMeasure
    least: float | None = None
    most: float | None = None
    whole: float | None = None

    @property
    def share(self) -> float | None:
        """The most that can be gained as a share of the whole; None where either is unknown."""
        return self.most / self.whole if self.most is not None and self.whole else None


class Certainty(enum.Enum):
    """How a finding is known."""

    COUNTED = "counted"
    """What is so and what it costs stand in the program."""
    INFERRED = "inferred"
    """The line or the cause is concluded from what surrounds it."""
    ESTIMATED = "estimated"
    """What the change saves depends on the compiler or on the run; trying it tells."""


@dataclass(frozen=True)
class CodeChange:
    """What to change."""

    code: str
    """In the user's own names: a diff of their source as `diff -u` writes it where `is_diff`, else lines to write."""
    is_diff: bool = False
    stage: Callable[[Staged], Staged] | None = field(default=None, repr=False, compare=False)
    """Gives the changed call, staged as far as it is changed; None where no machine can make the change."""

    @property
    def lines(self) -> list[str]:
        """The lines to write, without those that a diff takes away or has for orientation."""
        lines = self.code.splitlines()
        if not self.is_diff:
            return lines
        return [line[1:].strip() for line in lines if line.startswith("+") and not line.startswith("+++")]

    @property
    def in_line(self) -> str:
        """The lines to write as one, for a cell of a table; marked where they end if they are no simple statements."""
        is_plain = not any(line.endswith(":") or line.startswith((" ", "#")) for line in self.lines)
        return ("; " if is_plain else " ⏎ ").join(line.strip() for line in self.lines)


@dataclass(frozen=True)
class Finding:
    """One finding of a program."""

    kind: FindingKind
    text: str
    """What is so, in one sentence."""
    stake: Stake
    line: str = ""
    """The source line, such as "In [3]:7"; "" unknown."""
    rows: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Rows of the documents that it is about, by kind of document."""
    names: tuple[str, ...] = ()
    """The arguments, constants or values that it is about."""
    change: CodeChange | None = None
    certainty: Certainty = Certainty.COUNTED
    caveat: str = ""
    """What could make it wrong; "" nothing that is known."""
    tab: str = ""
    """The tab of the panel that has it in full."""

    @property
    def key(self) -> tuple[object, ...]:
        """What tells it from the other findings of its program."""
        return self.kind, self.line, self.names

    @property
    def can_be_tried(self) -> bool:
        """Whether the change can be made and compiled."""
        return self.change is not None and self.change.stage is not None


class TrialOutcome(enum.Enum):
    """What trying a change showed."""

    PAYS = "pays"
    NO_CHANGE = "no change in HLO"
    NO_GAIN = "gains nothing"
    WORSE = "makes it worse"
    UNKNOWN = "unknown"
