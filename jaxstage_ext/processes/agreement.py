"""Which processes agree in what: pure functions of what they told."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence

from jaxstage_ext.processes.arrival import Arrival, ComparedPart
from jaxstage_ext.processes.disagreement import Group
from jaxstage_ext.processes.program_texts import ProgramTexts


def groups_of(values: Mapping[int, Hashable]) -> list[Group]:
    """The processes that have the same value; the largest group first, of equal ones that with the lowest index."""
    by_value: dict[Hashable, list[int]] = {}
    for process in sorted(values):
        by_value.setdefault(values[process], []).append(process)
    return sorted(map(tuple, by_value.values()), key=lambda group: (-len(group), group))


def agree(arrivals: Iterable[Arrival]) -> bool:
    """Whether all have the same digests."""
    return len({each.key for each in arrivals}) == 1


def part_groups(
    arrivals: Mapping[int, Arrival], texts: Mapping[int, ProgramTexts]
) -> dict[ComparedPart, Sequence[Group]]:
    """The groups of each part; of the jaxpr where all of them sent it."""
    parts = [part for part in ComparedPart if all(part in each.digests for each in arrivals.values())]
    groups: dict[ComparedPart, Sequence[Group]] = {
        part: groups_of({process: each.digests[part] for process, each in arrivals.items()}) for part in parts
    }
    if texts.keys() == arrivals.keys() and all(each.jaxpr.lines for each in texts.values()):
        groups[ComparedPart.JAXPR] = groups_of({process: tuple(each.jaxpr.lines) for process, each in texts.items()})
    return {part: groups[part] for part in ComparedPart if part in groups}


def differing_fields(fields: Mapping[int, Mapping[str, str]]) -> dict[str, dict[int, str]]:
    """The fields that are not the same in all, by process; one that a process lacks is "" there."""
    names = dict.fromkeys(name for each in fields.values() for name in each)
    every = {name: {process: each.get(name, "") for process, each in fields.items()} for name in names}
    return {name: texts for name, texts in every.items() if len(set(texts.values())) > 1}
