"""Rules by path: regular expressions, the first of which that is found in a leaf's path gives its spec."""

from __future__ import annotations

import re
from collections.abc import Sequence

from jaxstage_ext.ir.partitioning.module_layout import AxisSpec


def path_rules(leaves: Sequence[tuple[str, AxisSpec]]) -> list[tuple[str, AxisSpec]]:
    """Rules of all leaves, (path, spec): one for leaves whose paths differ in numbers alone, where that is enough."""
    by_pattern: dict[str, set[AxisSpec]] = {}
    for path, spec in leaves:
        by_pattern.setdefault(_pattern(path), set()).add(spec)
    rules: dict[str, AxisSpec] = {}
    for path, spec in leaves:
        pattern = _pattern(path)
        rules.setdefault(pattern if len(by_pattern[pattern]) == 1 else f"^{re.escape(path)}$", spec)
    return list(rules.items())


def spec_of(path: str, rules: Sequence[tuple[str, AxisSpec]]) -> AxisSpec | None:
    """The spec of the first rule that is found in a path; None where none is."""
    return next((spec for pattern, spec in rules if re.search(pattern, path)), None)


def _pattern(path: str) -> str:
    return "^" + re.sub(r"\d+", r"\\d+", re.escape(path)) + "$"
