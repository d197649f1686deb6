"""Which process compiled what several of them show, and why each compiled it where none was shared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jaxstage_ext.core.executable_sharing import Sharing
from jaxstage_ext.processes.disagreement import Group
from jaxstage_ext.processes.staged import staged_wording as wording
from jaxstage_ext.processes.staged.process_staging import CallStaging


def compile_notes(groups: Sequence[Group], calls: Mapping[int, CallStaging]) -> list[str]:
    """A sentence for each process that others have read from, and one why processes that agree each compiled.

    Args:
      groups: the processes that agree.
      calls: the call in each process.
    """
    made = [wording.read_from(by, group) for by, group in sorted(_readers(calls).items())]
    for group in groups:
        if (why := _unshared(group, calls)) is not None:
            made.append(wording.each_compiled(group, why))
    return made


def has_readers(calls: Mapping[int, CallStaging]) -> bool:
    """Whether any process has read what another compiled."""
    return bool(_readers(calls))


def _readers(calls: Mapping[int, CallStaging]) -> dict[int, Group]:
    """The processes that have read, by the process that compiled."""
    found: dict[int, Group] = {}
    for process, call in sorted(calls.items()):
        if call.compiled_by not in (None, process):
            found[call.compiled_by] = (*found.get(call.compiled_by, ()), process)
    return found


def _unshared(group: Group, calls: Mapping[int, CallStaging]) -> Sharing | None:
    """Why each process of a group compiled what they agree in, where that was in the process itself."""
    given = [calls[process].sharing for process in group if process in calls]
    if len(given) < 2 or None in given or Sharing.READ in given:
        return None
    if calls[group[0]].spans is False:
        return Sharing.OWN_DEVICES
    return next((why for why in given if why is not Sharing.COMPILED), _compiled_apart(group, calls))


def _compiled_apart(group: Group, calls: Mapping[int, CallStaging]) -> Sharing | None:
    """COMPILED where all of them did, although each might have read it from another."""
    return Sharing.COMPILED if all(calls[process].compiled_by == process for process in group) else None
