"""Programs that are too large to compile in this process: a worker, whose memory is limited, compiles them."""

from __future__ import annotations

from dataclasses import dataclass

from jaxstage_ext.report.text.typed_forms import typed
from jaxstage_ext.report.text.units import scaled
from jaxstage_ext.worker.request_errors import WorkerDied

HERE = "--no-isolate (inspect(..., isolate=False)) compiles it in this kernel, with no such limit"


@dataclass(frozen=True)
class LargeProgram:
    """A program of more StableHLO operations than `most`, the setting.

    `memory` is the worker's limit in bytes; None for none.
    """

    operations: int
    most: int
    memory: int | None

    @property
    def reason(self) -> str:
        """Why a worker compiles it."""
        return (
            f"its {self.operations:,} StableHLO operations are more than the {self.most:,} "
            f"{typed('of %config JAXStage.large_program', 'that this process compiles')}"
        )

    @property
    def note(self) -> str:
        """Where it was compiled, under which limit, why, and how to compile it in this process."""
        limit = f" with a memory limit of {scaled(self.memory, 'B')}" if self.memory is not None else ""
        return (
            f"Compiled in a worker{limit}, because {self.reason}, and XLA may need tens of GB for such programs. It "
            f"cannot be run from here: {HERE}."
        )

    @property
    def why_elsewhere(self) -> str:
        """Why this process has no executable, and how to get it."""
        return f"a worker compiled it because {self.reason}; {HERE}"

    def explained(self, died: WorkerDied) -> WorkerDied:
        """The error of the worker, with why it was a worker, and how to compile it in this process."""
        if died.cause == "stopped":
            return died
        text = f"{died.summary}. It was compiled in a worker because {self.reason}; {HERE}"
        return WorkerDied(text, died.cause, died.log)
