"""What the plugin that keeps figures by commit says."""

from __future__ import annotations

from jaxstage_ext.report.text.units import plural, scaled, share

OPTION = "keep the figures of the programs of jaxstage_ext.testing by commit in FILE, and say what moved"
TITLE = "figures of compiled programs"
UNITS = {"FLOPs": "FLOP", "bytes moved": "B", "memory needed": "B", "sent": "B", "collectives": ""}


def kept(programs: int, commit: str, file: str) -> str:
    """How many programs were kept."""
    return f"{plural(programs, 'program')} at {commit} in {file}"


def nothing_moved() -> str:
    """That no figure differs from the commit before."""
    return "no figure moved"


def moved(test: str, target: str, name: str, before: float | None, after: float | None, commit: str) -> str:
    """How one figure moved."""
    unit = UNITS.get(name, "")
    changed = ""
    if before and after is not None:
        changed = f" ({'+' if after > before else '−'}{share(abs(after - before) / before)})"
    return f"{test} for {target}: {name} {_value(before, unit)} → {_value(after, unit)}{changed}, since {commit}"


def _value(value: float | None, unit: str) -> str:
    if value is None:
        return "unknown"
    return scaled(value, unit) if unit else f"{value:,.0f}"


def not_written(file: str, why: str) -> str:
    """That the file cannot be written."""
    return f"{file} cannot be written: {why}"
