"""What the instructions of some lines take that a unit of the device bounds."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from jaxstage_ext.analysis.cost.ceilings import Ceiling
from jaxstage_ext.program.device.device_roofline import device_roofline
from jaxstage_ext.program.program import Program


def compute_bound_seconds(program: Program, lines: Collection[str], unit: str) -> float:
    """Seconds of the lower bound of those whose unit has these words in its name, such as "vector" or "f32"."""
    roof = device_roofline(program)
    is_bound = [
        line in lines and bound is Ceiling.COMPUTE and unit in own
        for line, bound, own in zip(roof.line, roof.bound, roof.unit, strict=True)
    ]
    return float(np.nansum(roof.seconds[np.array(is_bound, bool)]))
