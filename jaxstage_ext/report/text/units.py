"""Quantities as text. Every figure has three significant digits, and halves round up, as in the front end."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Context, Decimal

_THREE_DIGITS = Context(prec=3, rounding=ROUND_HALF_UP)
_LARGE = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_SMALL = ((1.0, ""), (1e-3, "m"), (1e-6, "µ"))
_NEXT_PREFIX = 0.9995
"""999.5 B round to 1 kB."""


def rounded(value: float) -> str:
    """`1.25`, `1000`, `0.0125`: three significant digits without an exponent."""
    text = format(_THREE_DIGITS.create_decimal(Decimal(float(value))), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def scaled(value: float, unit: str) -> str:
    """`1.1 MB`, `34 B`, `2.5 GFLOP`, `3.2 µs`: with a prefix in powers of 1000; small ones are for seconds alone."""
    factor, prefix = _prefix(abs(value), unit)
    return f"{rounded(value / factor)} {prefix}{unit}"


def _prefix(size: float, unit: str) -> tuple[float, str]:
    prefixes = (*_LARGE, *_SMALL) if unit == "s" else _LARGE
    smallest = (1e-9, "n") if unit == "s" and size else (1.0, "")
    return next((pair for pair in prefixes if size >= pair[0] * _NEXT_PREFIX), smallest)


def signed(change: float, unit: str = "") -> str:
    """`+1,200`, `−3`, `+34.3 kB`, `0`: how much a quantity grew."""
    size = scaled(abs(change), unit) if unit else f"{abs(change):,}"
    return ("+" if change > 0 else "−" if change < 0 else "") + size


def duration(seconds: float) -> str:
    """`400 µs`, `81.2 ms`, `1.25 s`, `2 min 3 s`."""
    if seconds < 99.95:
        return scaled(seconds, "s")
    minutes, rest = divmod(int(seconds + 0.5), 60)
    return f"{minutes} min {rest} s"


def plural(count: int, noun: str, nouns: str | None = None) -> str:
    """`1 op`, `1,234 ops`; `nouns` is a plural that does not end in "s" alone."""
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"


def with_article(noun: str) -> str:
    """`an int`, `a str`."""
    return f"an {noun}" if noun[:1].lower() in "aeiou" else f"a {noun}"


def share(part: float) -> str:
    """`84%`, as the front end's `percent`: what is next to nothing, or nearly all, is not called nothing or all."""
    percent = 100 * part
    if 0 < percent < 1:
        return "<1%"
    return f"{min(99.9, math.floor(10 * percent) / 10):g}%" if 99 < percent < 100 else f"{math.floor(percent + 0.5)}%"
