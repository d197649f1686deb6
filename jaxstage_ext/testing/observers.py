"""Who is told of each program that a test compiles: the plugin that keeps figures; nobody otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

OBSERVERS: list[Callable[[Any], None]] = []
"""Each is called with a `CompiledProgram`."""
