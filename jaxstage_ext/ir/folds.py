"""The lines that open a block, and where the block ends."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from jaxstage_ext.report.frames import Ints


def by_brackets(lines: Sequence[str], brackets: str = "{}[]()") -> Ints:
    """Per row: the last row of the bracketed block that opens on it, or -1.

    Brackets inside double-quoted strings do not count. Unbalanced text gives
    fewer folds, never an error.
    """
    closing = {brackets[i + 1]: brackets[i] for i in range(0, len(brackets), 2)}
    opening = set(closing.values())
    any_bracket = re.compile(f"[{re.escape(brackets)}]")
    end = np.full(len(lines), -1, np.int32)
    stack: list[tuple[str, int]] = []
    for row, line in enumerate(lines):
        for char in any_bracket.findall(_bare(line)):
            if char in opening:
                stack.append((char, row))
            elif stack and stack[-1][0] == closing[char]:
                start = stack.pop()[1]
                if start < row:
                    end[start] = max(end[start], row)
    return end


def _bare(line: str) -> str:
    return "".join(line.split('"')[::2]) if '"' in line else line
