"""What looks for findings that move data."""

from __future__ import annotations

from jaxstage_ext.findings.detector import Detector
from jaxstage_ext.findings.movement import (
    batched_loop,
    carry_copy,
    collective,
    full_rematerialisation,
    host_transfer,
    layout_copy,
)

MOVEMENT: tuple[Detector, ...] = (
    carry_copy.DETECTOR,
    batched_loop.DETECTOR,
    collective.DETECTOR,
    full_rematerialisation.DETECTOR,
    host_transfer.DETECTOR,
    layout_copy.DETECTOR,
)
