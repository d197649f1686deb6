"""That a part of a cell's last line is inspected, and what is not run for it."""

from __future__ import annotations

from collections.abc import Sequence

from jaxstage_ext.report.text.shortened import shortened

_LONGEST = 60


def told(calls: Sequence[str], targets: Sequence[str], runs_with: str) -> str:
    """Of the calls that were staged, the names that the line would assign, and the magic that would run it, or ""."""
    staged = " and ".join(shortened(call, _LONGEST) for call in calls)
    verb = "is" if len(calls) == 1 else "are"
    names = ", ".join(targets)
    unassigned = f", so {names} {'is' if len(targets) == 1 and ',' not in names else 'are'} not assigned"
    said = f"{staged} of the last line {verb} inspected; the line itself was not run{unassigned if names else ''}."
    return f"{said} {runs_with} runs it too." if runs_with else said
