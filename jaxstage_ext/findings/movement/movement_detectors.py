"""What looks for findings that move data."""

from __future__ import annotations

from jaxstage_ext.findings.detector import Detector

MOVEMENT: tuple[Detector, ...] = ()
