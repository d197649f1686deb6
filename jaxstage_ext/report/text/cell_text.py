"""The cells of tables as text."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from jaxstage_ext.report.text.units import scaled
from jaxstage_ext.report.text.units import share as percent

_LARGEST_WHOLE = 1e7
"""Whole floats below it are written as counts are, and larger ones with four digits."""
SHARES = ("share", "of roof")
"""The names of columns whose values, 0 to 1, are parts of a whole."""
MOST_ROWS = 30
"""Rows that the text of a table shows."""


def is_number(value: Any) -> bool:
    """Whether a value is a number; a bool is not one."""
    return isinstance(value, int | float | np.number) and not isinstance(value, bool | np.bool_)


def plain(value: Any) -> Any:
    """A cell as JSON takes it; None for an unknown."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return None if isinstance(value, float) and not math.isfinite(value) else value


def cell(value: Any, unit: str = "") -> str:
    """A value as text: three digits and a prefix where it has a unit, "yes" or "no", "unknown" where there is none."""
    value = plain(value)
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not is_number(value):
        return str(value)
    if not unit:
        is_whole = isinstance(value, int) or (value.is_integer() and abs(value) < _LARGEST_WHOLE)
        return f"{int(value):,}" if is_whole else f"{value:,.4g}"
    return scaled(float(value), unit)


def cell_of(column: str, value: Any, unit: str = "") -> str:
    """A value of a column of that name as text: a share is written as in sentences, `88%`."""
    known = plain(value)
    return percent(float(known)) if column in SHARES and is_number(known) and not unit else cell(value, unit)


def one_line(text: str) -> str:
    """A text without line ends, which would break the row that it stands in."""
    return " ".join(text.splitlines()) if "\n" in text or "\r" in text else text
