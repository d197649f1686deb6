"""What looks for findings that cost operations."""

from __future__ import annotations

from jaxstage_ext.findings.compute import (
    both_branches,
    broken_fusion,
    cheaper_form,
    excess_precision,
    extra_flops,
    idle_matrix_unit,
    promotion,
    repeated_work,
    serial_loop,
    small_kernels,
)
from jaxstage_ext.findings.detector import Detector

COMPUTE: tuple[Detector, ...] = (
    promotion.DETECTOR,
    serial_loop.DETECTOR,
    both_branches.DETECTOR,
    repeated_work.DETECTOR,
    cheaper_form.DETECTOR,
    extra_flops.DETECTOR,
    excess_precision.DETECTOR,
    small_kernels.DETECTOR,
    idle_matrix_unit.DETECTOR,
    broken_fusion.DETECTOR,
)
