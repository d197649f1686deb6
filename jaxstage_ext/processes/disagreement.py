"""What a pre-flight found: who differs from whom, in what, and why."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from jaxstage_ext.processes.arrival import Arrival, ComparedPart, ProcessEnd
from jaxstage_ext.processes.flow.value_origin import Suspect
from jaxstage_ext.processes.program_texts import CodePlace

Group = tuple[int, ...]
"""The indices of processes that agree, rising."""


class DisagreementCause(enum.Enum):
    """Why processes disagree, as far as their programs and source lines tell."""

    ERROR = "error in one process"
    LEFT = "one process has ended"
    ABSENT = "one process did not arrive"
    VERSIONS = "versions"
    FLAGS = "XLA flags"
    PROCESS_BRANCH = "process index"
    CLOCK = "clock"
    RANDOM = "random value"
    SET_ORDER = "set order"
    HOST = "host"
    LOCAL_DATA = "local data"
    LOCAL_SHAPE = "shape of local data"
    OPERATION_ORDER = "order of operations"
    PROGRAM_ORDER = "order of programs"
    DEVICE_ORDER = "devices"
    MESH = "mesh"
    DONATION = "donation"
    COLLECTIVE_MORE = "one collective more"
    CAPTURED_VALUE = "captured value"
    OPTIONS = "compile options"
    CONFIG = "jax.config"
    UNKNOWN = "unknown"


class LineChange(enum.Enum):
    """What became of a line from one group's text to another's."""

    SAME = " "
    REMOVED = "-"
    ADDED = "+"
    SKIPPED = "…"


@dataclass(frozen=True)
class ChangedLine:
    """A line of a difference. Of SKIPPED ones `text` is how many lines are alike."""

    change: LineChange
    text: str
    place: CodePlace | None = None


@dataclass(frozen=True)
class StageDifference:
    """The difference of one stage between the first processes of two groups."""

    part: ComparedPart
    before: int
    after: int
    lines: Sequence[ChangedLine]


@dataclass(frozen=True)
class Disagreement:
    """Why a program was not run.

    Attributes:
      number: which program that spans processes it is, from 1; 0 of one that was only staged.
      arrivals: what each process told that has arrived.
      absent: the processes that have not.   ends: how those ended that did end, by process.
      groups: the processes that agree, for each part that is known of all.
      place: the first of the user's lines whose text differs, or the call.
      suspect: the value in that line that can differ.
      call: where the program is called, where that takes a value that can differ, and nothing nearer does.
      collectives: the operations by which processes exchange data, per process, where their numbers differ.
      is_donation: whether nothing but what is donated differs in the StableHLO.
      seconds: how long the others were waited for.
    """

    cause: DisagreementCause
    number: int
    arrivals: Mapping[int, Arrival]
    absent: Group = ()
    ends: Mapping[int, ProcessEnd] = field(default_factory=dict)
    groups: Mapping[ComparedPart, Sequence[Group]] = field(default_factory=dict)
    differences: Sequence[StageDifference] = ()
    fields: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    """Options, versions, flags, `jax.config` and types of arguments that differ: their texts, by name and process."""
    place: CodePlace | None = None
    suspect: Suspect | None = None
    call: CodePlace | None = None
    collectives: Mapping[int, int] = field(default_factory=dict)
    earlier: Mapping[int, Sequence[str]] = field(default_factory=dict)
    """The names of the programs before this one, by process."""
    agreed: Sequence[str] = ()
    """The names of the programs that all have agreed on."""
    seconds: float = 0.0

    @property
    def differing(self) -> ComparedPart | None:
        """The first part that is not the same in all; None where all that arrived agree."""
        return next((part for part in ComparedPart if len(self.groups.get(part, ())) > 1), None)
