"""Ceilings of a CPU as text: `f32=200G, f64=100G, memory=50G`."""

from __future__ import annotations

import math

NAMES = ("f32", "f64", "bf16", "f16", "s8", "memory")
_PREFIXES = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


def parse(text: str) -> dict[str, float]:
    """The rates by name, in FLOP/s and bytes per second. Raises ValueError, in one line, for anything else."""
    rates: dict[str, float] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = (word.strip() for word in part.partition("="))
        if name not in NAMES or name in rates:
            raise ValueError(f"{part!r}: name each of {', '.join(NAMES)} at most once, as in f32=200G")
        rates[name] = _rate(value, part)
    return rates


def _rate(text: str, part: str) -> float:
    factor = _PREFIXES.get(text[-1:], 1.0)
    try:
        rate = float(text[:-1] if text[-1:] in _PREFIXES else text) * factor
    except ValueError:
        rate = 0.0
    if not (0 < rate < 1e24 and math.isfinite(rate)):
        raise ValueError(f"{part!r} is not a rate such as f32=200G, in FLOP/s, or memory=50G, in bytes per second")
    return rate
