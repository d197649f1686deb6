"""Which instructions of a module write an array of a given size to the device's memory."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.ir.wire.protowire import Longs

_PADDED = 1.05
_NOT_MADE = (b"parameter", b"bitcast", b"tuple", b"get-tuple-element", b"reshape", b"while", b"conditional", b"call")


def of_sizes(module: Module, elements: Collection[int]) -> Longs:
    """The instructions outside of fusions that have a result of so many elements, or some more where XLA pads it."""
    fusions = module.opcode[module.called.owner] == b"fusion"
    inside = np.isin(module.computation, module.called.values[fusions])
    made, own = ~inside & ~np.isin(module.opcode, _NOT_MADE), module.shapes.elements
    parts = module.rows(b"get-tuple-element")
    makers = np.array([of[0] for of in (module.operands[row] for row in parts.tolist())], np.int64)
    made[parts] = ~inside[parts] & (makers >= 0) & (module.opcode[makers] == b"fusion")
    alike = np.zeros(len(module), bool)
    for count in elements:
        alike |= (own >= count) & (own <= _PADDED * count)
    return np.flatnonzero(made & alike)
