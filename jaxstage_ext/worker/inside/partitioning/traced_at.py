"""Where an operation is from: the scope that JAX gave it, and the frames of the Python code that traced it."""

from __future__ import annotations

import re
from typing import Any

_NAME = re.compile(r'^loc\("((?:[^"\\]|\\.)*)"')
_FRAME = re.compile(r'"((?:[^"\\]|\\.)*)":(\d+):')


def place(operation: Any) -> tuple[str, tuple[tuple[str, int], ...]]:
    """(scope, frames as (file, line), the innermost first); "" and none where the module does not say."""
    text = str(operation.location)
    frames = tuple((file, int(line)) for file, line in _FRAME.findall(text))
    name = _NAME.match(text)
    return (name[1] if name and "/" in name[1] else ""), frames
