"""What looks for findings that cost operations."""

from __future__ import annotations

from jaxstage_ext.findings.compute import promotion
from jaxstage_ext.findings.detector import Detector

COMPUTE: tuple[Detector, ...] = (promotion.DETECTOR,)
