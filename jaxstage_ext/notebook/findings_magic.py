"""`%findings`: what costs this notebook the most."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError

from jaxstage_ext.notebook.front_end_target import held_inspections
from jaxstage_ext.notebook.lines.line_help import FINDINGS_OPTIONS as OPTIONS

if TYPE_CHECKING:
    from jaxstage_ext.findings.session_findings import SessionFindings

_LONGEST_WORD = 60


def shown(line: str, space: dict[str, Any]) -> SessionFindings:
    """What `%findings` shows, given the user's namespace. Raises UsageError."""
    words = line.split()
    names = [word for word in words if word not in OPTIONS]
    variables = held_inspections(space)
    _check(names, dict(variables))
    from jaxstage_ext.api.inspection import Inspection
    from jaxstage_ext.findings import session_findings
    from jaxstage_ext.panel.front_end_requests.inspection_requests import cell_label
    from jaxstage_ext.panel.inspection_list import listed
    from jaxstage_ext.report.unavailable import Unavailable

    calls = [call for call in listed(variables) if not names or not set(names).isdisjoint(call.variables)]
    calls = [call for call in calls if not call.first.tab and (names or call.first.elsewhere is None)]
    looked = []
    for call in calls:
        try:
            findings = Inspection.of(call.first).findings
        except Unavailable as why:
            raise UsageError(str(why)) from None
        where = ", ".join(filter(None, (call.first.name, cell_label(call) or next(iter(call.variables), ""))))
        looked.append((where, findings.all() if OPTIONS[0] in words else findings))
    return session_findings.of_session(looked, with_compiles=not names)


def _check(names: list[str], variables: Mapping[str, Any]) -> None:
    for name in names:
        if name in variables:
            continue
        word = name[:_LONGEST_WORD].encode("utf-8", "backslashreplace").decode()
        if name.startswith("-"):
            raise UsageError(f"%findings has no option {word}; it has {' and '.join(OPTIONS)}")
        known = ", ".join(list(variables)[:8]) or "none; %%compile -o ins makes one"
        raise UsageError(f"%findings {word}: no Inspection has that name; there are {known}")
