"""What a process tells the others before the first run of a program that spans processes."""

from __future__ import annotations

import enum
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass


class ComparedPart(enum.Enum):
    """What must be the same in all processes, in the order in which a difference explains those after it."""

    ENVIRONMENT = "environment"
    """Versions of JAX, jaxlib and the plugin, and XLA's flags."""
    ORDER = "order"
    """Which program comes first, second and so on, by its name."""
    DEVICES = "devices"
    """The devices of the program, in its order."""
    JAXPR = "jaxpr"
    """Compared where another part differs: the digest of StableHLO stands for it."""
    STABLEHLO = "stablehlo"
    """Without locations; donation and the types of arguments are part of it."""
    OPTIONS = "options"
    """The compile options, without where to write dumps."""


@dataclass(frozen=True)
class Arrival:
    """One process at its program of a number.

    Attributes:
      process: its index.   host: its host's name.
      program: the name of the module, such as "jit_step".
      place: the line of the user's that called it, "train.py:12"; "" where it is unknown.
      digests: of each part, 32 hex digits at most.
    """

    process: int
    host: str
    program: str
    place: str
    digests: Mapping[ComparedPart, str]

    @property
    def key(self) -> str:
        """One digest of all parts: programs of equal keys agree."""
        parts = sorted(f"{part.value}={digest}" for part, digest in self.digests.items())
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]

    def to_json(self) -> str:
        """Some 300 bytes."""
        digests = {part.value: digest for part, digest in self.digests.items()}
        return json.dumps([self.process, self.host, self.program, self.place, digests])

    @staticmethod
    def from_json(text: str) -> Arrival:
        """The arrival of a `to_json`."""
        process, host, program, place, digests = json.loads(text)
        return Arrival(process, host, program, place, {ComparedPart(part): one for part, one in digests.items()})


class EndKind(enum.Enum):
    """How a process came to take part no more."""

    ERROR = "error"
    """An exception has left the block or the script."""
    LEFT = "left"
    """The block or the script has ended."""
    OFF = "off"
    """Comparing failed there, by a fault of ours; its programs go on."""


@dataclass(frozen=True)
class ProcessEnd:
    """A process that will not arrive any more.

    Attributes:
      error: the exception's type and first line; "" where there was none.
      place: the innermost line of the user's in its traceback.
      programs: how many programs it had agreed on with others.   last: the name of the last one.
    """

    process: int
    kind: EndKind
    error: str
    place: str
    programs: int
    last: str

    def to_json(self) -> str:
        return json.dumps([self.process, self.kind.value, self.error, self.place, self.programs, self.last])

    @staticmethod
    def from_json(text: str) -> ProcessEnd:
        """The end of a `to_json`."""
        process, kind, *rest = json.loads(text)
        return ProcessEnd(process, EndKind(kind), *rest)
