"""Which processes have staged the same program, and why the others have another one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from jaxstage_ext.processes.agreement import groups_of
from jaxstage_ext.processes.arrival import Arrival, EndKind, ProcessEnd
from jaxstage_ext.processes.cause_search import differing_programs, missing_processes
from jaxstage_ext.processes.disagreement import Disagreement, Group
from jaxstage_ext.processes.program_texts import ProgramTexts
from jaxstage_ext.processes.staged.process_staging import CallStaging, StagingError, StagingErrorKind

_TELL_NOTHING = (StagingErrorKind.ENDED, StagingErrorKind.UNREACHED)


@dataclass(frozen=True)
class StagedGroup:
    """Processes whose call came to the same.

    Attributes:
      processes: their indices, rising.
      call: what the first of them tells.
    """

    processes: Group
    call: CallStaging

    @property
    def error(self) -> StagingError | None:
        """The error that all of them have; None where they have none."""
        return self.call.error


def staged_groups(calls: Mapping[int, CallStaging]) -> list[StagedGroup]:
    """The processes that agree: first those without an error, of these the largest group, then the lowest index."""
    groups = [StagedGroup(group, calls[group[0]]) for group in groups_of({at: _key(one) for at, one in calls.items()})]
    return sorted(groups, key=lambda group: group.error is not None)


def _key(call: CallStaging) -> tuple[object, ...]:
    """Equal for calls that came to the same. How far an error got differs by chance, so that its place counts."""
    if (error := call.error) is not None:
        return error.kind, error.type, error.message, error.place, error.stage
    return tuple(sorted((part.value, digest) for part, digest in call.digests.items()))


def disagreements(
    groups: Sequence[StagedGroup], hosts: Mapping[int, str], texts: Mapping[int, ProgramTexts]
) -> list[Disagreement]:
    """Why the groups differ: first those that have a program, then each group that has an error instead.

    Of a program that each process runs by itself an error in another one stops nobody, and is none of these. Nor is a
    process that tells nothing: it has ended, or its program is unknown.

    Args:
      groups: as `staged_groups` has them.
      hosts: the name of each process's host.
      texts: of the first process of each group with a program.
    """
    arrivals = dict(_arrivals(groups, hosts))
    good = [group for group in groups if group.error is None]
    failed = [group for group in groups if group.error is not None and group.error.kind not in _TELL_NOTHING]
    found = [differing_programs(0, arrivals, texts)] if len(good) > 1 else []
    if any(group.call.spans is not False for group in good):
        found += [missing_processes(0, arrivals, group.processes, _ends(group), 0.0) for group in failed]
    return found


def _arrivals(groups: Sequence[StagedGroup], hosts: Mapping[int, str]) -> Iterator[tuple[int, Arrival]]:
    of_process = {process: group.call for group in groups if group.error is None for process in group.processes}
    for process, call in sorted(of_process.items()):
        yield process, Arrival(process, hosts.get(process, ""), call.program, call.place, call.digests)


def _ends(group: StagedGroup) -> dict[int, ProcessEnd]:
    error = group.error
    assert error is not None
    said = f"{error.type}: {error.message}" if error.type else error.message
    return {process: ProcessEnd(process, EndKind.ERROR, said, error.place, 0, "") for process in group.processes}
