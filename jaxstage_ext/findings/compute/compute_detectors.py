"""What looks for findings that cost operations."""

from __future__ import annotations

from jaxstage_ext.findings.compute import promotion, serial_loop
from jaxstage_ext.findings.detector import Detector

COMPUTE: tuple[Detector, ...] = (promotion.DETECTOR, serial_loop.DETECTOR)
