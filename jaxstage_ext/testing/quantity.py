"""Amounts as tests write them: 14 GiB, 1.5 TFLOP, 1e9."""

from __future__ import annotations

import math
import re

from jaxstage_ext.testing import assertion_wording as wording

_WRITTEN = re.compile(r"(\d[\d,_]*(?:\.\d+)?(?:[eE][+-]?\d+)?) ?([kKMGTP]?)(i?)([A-Za-z]*)")
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}


def quantity(value: float | str, unit: str) -> float:
    """The number of a quantity in `unit`, "B" or "FLOP"; prefixes are of 1000, those with "i" of 1024.

    Raises ValueError, in one line, for what is none.
    """
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0:
        return float(value)
    match = _WRITTEN.fullmatch(value.strip()) if isinstance(value, str) and len(value) < 100 else None
    if match is None or match[4].lower().rstrip("s") not in ("", unit.lower()) or (match[3] and not match[2]):
        raise ValueError(wording.bad_quantity(value, unit))
    base = 1024.0 if match[3] else 1000.0
    return float(match[1].replace(",", "").replace("_", "")) * base ** _POWERS[match[2].lower()]
