"""What a process tells of the calls that it has staged: plain data, some hundred bytes a call."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from jaxstage_ext.core.executable_sharing import Sharing
from jaxstage_ext.processes.arrival import ComparedPart


class StagingErrorKind(enum.Enum):
    """Why a process has no artefact of a call."""

    REFUSED = "refused"
    """What the magic's line or its cell asks for cannot be staged; the message is one line for the user."""
    NAME = "name"
    """A name is not defined in the process."""
    RAISED = "raised"
    """The cell, or a stage, raised an exception."""
    ENDED = "ended"
    """The process has ended, before or while it was asked; the message is what is known of how."""
    UNREACHED = "unreached"
    """Asking the process failed."""


@dataclass(frozen=True)
class StagingError:
    """Why a process has no artefact of a call.

    Attributes:
      type: the name of the exception's class; "" where there is none.   message: its text, in one line.
      place: the user's line, "In [3]:7"; "" where none is known.
      name: the name that is not defined; "" of other errors.
      stage: the stage that failed; "" where none was reached.
    """

    kind: StagingErrorKind
    type: str
    message: str
    place: str = ""
    name: str = ""
    stage: str = ""


@dataclass(frozen=True)
class CallStaging:
    """One call in one process.

    Attributes:
      name: what the call is titled.   program: the name of its module; that of the call before it is lowered.
      place: the user's line with the call; "" where none is known.
      digests: of each part that is known, 32 hex digits at most.
      seconds: of each stage.
      spans: whether the program runs on devices of several processes; None where it was not lowered.
      error: why its stages did not all succeed.
      compiled_by: the index of the process that compiled it; None where it was compiled in no process of the job.
      sharing: of a program of several processes, whether they share what one compiled; None where none was compiled.
    """

    name: str
    program: str
    place: str
    digests: Mapping[ComparedPart, str]
    seconds: Mapping[str, float]
    spans: bool | None
    error: StagingError | None = None
    compiled_by: int | None = None
    sharing: Sharing | None = None


@dataclass(frozen=True)
class ProcessStaging:
    """What one process tells after a cell.

    Attributes:
      process: its index.   host: its host's name.
      calls: its calls, in the order of the cell.
      error: why there are no calls.
      printed: what the cell has printed.
      elapsed: seconds of everything in that process, the cell's other statements included.
      compare_seconds: how many of these went to digests.
    """

    process: int
    host: str
    calls: Sequence[CallStaging]
    error: StagingError | None = None
    printed: str = ""
    elapsed: float = 0.0
    compare_seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Plain data: text, numbers, lists and dicts."""
        made = asdict(self)
        made["error"] = _plain_error(self.error)
        made["calls"] = [_plain_call(call) for call in self.calls]
        return made

    @staticmethod
    def from_dict(data: Mapping[str, Any], process: int) -> ProcessStaging:
        """That of a `to_dict`, for the process of this index. Raises KeyError, TypeError or ValueError for others."""
        read = ProcessStaging(**{**data, "error": _error(data["error"]), "calls": tuple(map(_call, data["calls"]))})
        return replace(read, process=process)


def _plain_error(error: StagingError | None) -> dict[str, Any] | None:
    return None if error is None else {**asdict(error), "kind": error.kind.value}


def _error(data: Mapping[str, Any] | None) -> StagingError | None:
    return None if data is None else StagingError(**{**data, "kind": StagingErrorKind(data["kind"])})


def _plain_call(call: CallStaging) -> dict[str, Any]:
    digests = {part.value: digest for part, digest in call.digests.items()}
    sharing = call.sharing.value if call.sharing is not None else None
    plain = {"digests": digests, "error": _plain_error(call.error), "sharing": sharing}
    return {**asdict(replace(call, digests={})), **plain}


def _call(data: Mapping[str, Any]) -> CallStaging:
    digests = {ComparedPart(part): digest for part, digest in data["digests"].items()}
    sharing = Sharing(data["sharing"]) if data["sharing"] is not None else None
    return CallStaging(**{**data, "digests": digests, "error": _error(data["error"]), "sharing": sharing})
