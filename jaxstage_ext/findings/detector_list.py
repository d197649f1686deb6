"""All detectors, by group; a kind of finding is a file, and an entry in the list of its group."""

from __future__ import annotations

from jaxstage_ext.findings.calls.calls_detectors import CALLS
from jaxstage_ext.findings.compile_time.compile_time_detectors import COMPILE_TIME
from jaxstage_ext.findings.compute.compute_detectors import COMPUTE
from jaxstage_ext.findings.detector import Detector
from jaxstage_ext.findings.memory.memory_detectors import MEMORY
from jaxstage_ext.findings.movement.movement_detectors import MOVEMENT

DETECTORS: tuple[Detector, ...] = (*MEMORY, *COMPUTE, *MOVEMENT, *COMPILE_TIME, *CALLS)
