"""What looks for findings that cost compile time."""

from __future__ import annotations

from jaxstage_ext.findings.compile_time import persistent_miss, recompile, slow_pass, unrolled_loop
from jaxstage_ext.findings.detector import Detector

COMPILE_TIME: tuple[Detector, ...] = (
    recompile.DETECTOR,
    unrolled_loop.DETECTOR,
    slow_pass.DETECTOR,
    persistent_miss.DETECTOR,
)
