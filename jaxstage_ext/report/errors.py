"""What went wrong in a stage, as data."""

from __future__ import annotations

from dataclasses import dataclass, field

from jaxstage_ext.report.frames import SourceSpan


@dataclass(frozen=True)
class StageError:
    """A stage that failed.

    Attributes:
      stage: "trace", "lower", "compile", or "run" for a run that died of memory.
      exception: JAX's own error; None after a round trip through JSON.
      type, message: its class name and text, at most 8,000 characters.
      span: the user's innermost line, if one took part.
      interrupted: True when the user stopped it.
    """

    stage: str
    type: str
    message: str
    span: SourceSpan | None
    interrupted: bool = False
    exception: BaseException | None = field(default=None, repr=False, compare=False)
