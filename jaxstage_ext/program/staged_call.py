"""What an Inspection knows of its call before anything is asked: the stages, how far each is, and what they made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jaxstage_ext.core.call import Call
from jaxstage_ext.core.targets.target import Target
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.running import absent_compiled
from jaxstage_ext.report.document import Coverage, Document
from jaxstage_ext.report.errors import StageError
from jaxstage_ext.report.frames import Frames


def _nothing() -> None:
    pass


class StagedCall:
    """One call on one target, with what each stage made of it.

    Attributes:
      program: what everything here is computed from.
    """

    program: Program

    @property
    def target(self) -> Target:
        """What the call is compiled for."""
        return self.program.target

    @property
    def call(self) -> Call:
        """The function and its arguments."""
        return self.program.call

    @property
    def name(self) -> str:
        """What the call is titled: the function's name, unless it was given another."""
        return self.program.name

    @property
    def stage(self) -> str:
        """The last stage that was asked for."""
        return self.program.stage

    @property
    def seconds(self) -> dict[str, float]:
        """Seconds of each finished stage, by JAX's own events where it has them."""
        return self.program.seconds

    @property
    def elapsed(self) -> float | None:
        """Seconds that the running stage has taken so far; None where none runs."""
        return self.program.elapsed

    @property
    def traced(self) -> Any:
        """The `jax.stages.Traced` (or the library's own form of it); None if not reached."""
        return self.program.traced

    @property
    def lowered(self) -> Any:
        """The `jax.stages.Lowered` (or the library's own form of it); None if not reached."""
        return self.program.lowered

    @property
    def compiled(self) -> Any:
        """The `jax.stages.Compiled` (or the library's own form of it); None if not reached.

        For a target that is not here, an object with its attributes, shardings and formats among them, that cannot be
        called.
        """
        return absent_compiled.of(self.program)

    @property
    def error(self) -> StageError | None:
        """The failure of a stage, or of a run that died of memory; None where nothing failed."""
        return self.program.error

    @property
    def ran_out(self) -> StageError | None:
        """The failure of a run that died of memory."""
        return self.program.ran_out

    @property
    def documents(self) -> Mapping[str, Document]:
        """The documents of the stages that were reached, by kind: "python", "jaxpr", "stablehlo", "hlo"."""
        return self.program.documents

    @property
    def frames(self) -> Frames:
        """The call stacks of all documents."""
        return self.program.frames

    @property
    def coverage(self) -> Coverage | None:
        """How much of the last stage's document is linked to source; None before there is one."""
        return self.program.coverage

    def advance(self, on_change: Callable[[], None] = _nothing) -> None:
        """Run the stages that wait. A failure is kept in `error`, not raised."""
        self.program.advance(on_change)
