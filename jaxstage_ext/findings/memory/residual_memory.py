"""Residuals that a checkpoint would not keep."""

from __future__ import annotations

from jaxstage_ext.findings.detector import Detector, is_traced
from jaxstage_ext.findings.finding import Finding
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.findings.memory import layer_residuals, scan_body_residuals
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.progress import Progress


def find(program: Program, progress: Progress | None = None) -> list[Finding]:
    """Those that scans stack, else those of an unrolled network."""
    return scan_body_residuals.find(program) or layer_residuals.find(program)


DETECTOR = Detector(FindingKind.RESIDUALS, find, is_traced)
