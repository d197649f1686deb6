"""A figure: a value, or why it is unknown, and how it is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jaxstage_ext.report.text.cell_text import cell


@dataclass(frozen=True)
class Figure:
    """One figure of a program, wherever it is shown.

    Attributes:
      value: None where it is unknown, and `reason` says why.
      remark: what is to be known about it, such as how it was counted.
      text: what is shown where the value is one end of what is known, such as "at least 1.2 GFLOP".
    """

    value: Any
    reason: str | None = None
    remark: str | None = None
    text: str = ""

    def shown(self, unit: str = "") -> str:
        """Its text; "unknown" where there is no value."""
        return self.text or cell(self.value, unit)
