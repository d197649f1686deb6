"""The public Timeline: a recording, and where its operations stand in the source."""

from __future__ import annotations

from dataclasses import dataclass

from jaxstage_ext.profiling.op_places import OpPlaces
from jaxstage_ext.report.recording import Events, Recording


@dataclass(frozen=True, eq=False)
class Timeline:
    """What ran when, linked to source lines.

    Attributes:
      recording: the events as the profiler recorded them.
      places: where the HLO instruction of an event stands; empty where it is unknown.
    """

    recording: Recording
    places: OpPlaces

    @property
    def columns(self) -> Events:
        """The events as numpy columns."""
        return self.recording.events
