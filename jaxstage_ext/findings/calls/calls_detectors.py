"""What looks for findings that cost time in each call, or make results wrong."""

from __future__ import annotations

from jaxstage_ext.findings.detector import Detector

CALLS: tuple[Detector, ...] = ()
