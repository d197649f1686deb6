"""Why the programs of processes differ: from their texts and the lines that made what differs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from jaxstage_ext.processes import stage_differences
from jaxstage_ext.processes.agreement import differing_fields, part_groups
from jaxstage_ext.processes.arrival import Arrival, ComparedPart, EndKind, ProcessEnd
from jaxstage_ext.processes.disagreement import Disagreement, DisagreementCause, Group, LineChange, StageDifference
from jaxstage_ext.processes.flow.value_origin import ValueOrigin
from jaxstage_ext.processes.program_texts import CodePlace, ProgramTexts

_BY_ORIGIN = {
    ValueOrigin.PROCESS: DisagreementCause.PROCESS_BRANCH,
    ValueOrigin.CLOCK: DisagreementCause.CLOCK,
    ValueOrigin.RANDOM: DisagreementCause.RANDOM,
    ValueOrigin.SET_ORDER: DisagreementCause.SET_ORDER,
    ValueOrigin.HOST: DisagreementCause.HOST,
    ValueOrigin.LOCAL_DATA: DisagreementCause.LOCAL_DATA,
}
_UNEXPLAINED = (DisagreementCause.CAPTURED_VALUE, DisagreementCause.OPERATION_ORDER, DisagreementCause.UNKNOWN)
_FLAGS = "XLA flags"
_STAGES = (ComparedPart.JAXPR, ComparedPart.STABLEHLO)


def missing_processes(
    number: int,
    arrivals: Mapping[int, Arrival],
    absent: Group,
    ends: Mapping[int, ProcessEnd],
    seconds: float,
) -> Disagreement:
    """Why a program cannot run: processes that have not arrived. `ends` are of those of them that have ended."""
    kinds = {end.kind for end in ends.values()}
    cause = (
        DisagreementCause.ERROR
        if EndKind.ERROR in kinds
        else DisagreementCause.LEFT
        if kinds
        else DisagreementCause.ABSENT
    )
    return Disagreement(cause, number, arrivals, absent, ends, seconds=seconds)


def differing_programs(number: int, arrivals: Mapping[int, Arrival], texts: Mapping[int, ProgramTexts]) -> Disagreement:
    """Why programs differ. `texts` may lack those of processes that did not send any."""
    groups = part_groups(arrivals, texts)
    differing = next((part for part in ComparedPart if len(groups.get(part, ())) > 1), ComparedPart.STABLEHLO)
    first = [group[0] for group in groups.get(_grouping(groups, differing), ()) if group[0] in texts]
    chosen = [texts[process] for process in first]
    differences = _differences(chosen) if differing is not ComparedPart.ORDER else []
    place, cause = _why(differing, chosen, differences)
    called = _suspicious([each.call for each in chosen if each.call is not None])
    collectives = {each.process: stage_differences.explicit_collectives(each) for each in chosen}
    return Disagreement(
        cause,
        number,
        arrivals,
        groups=groups,
        differences=differences,
        fields=_config(chosen) if cause is DisagreementCause.CONFIG else _fields(differing, chosen),
        place=place,
        call=called if cause in _UNEXPLAINED else None,
        suspect=place.suspects[0] if place and place.suspects and cause in _BY_ORIGIN.values() else None,
        collectives=collectives if len(set(collectives.values())) > 1 and differing in _STAGES else {},
        earlier={process: each.earlier for process, each in texts.items()},
    )


def _grouping(groups: Mapping[ComparedPart, Sequence[Group]], differing: ComparedPart) -> ComparedPart:
    """The part whose groups are compared: StableHLO where it differs too, which is all that runs."""
    is_stage = differing is ComparedPart.JAXPR and len(groups.get(ComparedPart.STABLEHLO, ())) > 1
    return ComparedPart.STABLEHLO if is_stage else differing


def _differences(chosen: Sequence[ProgramTexts]) -> list[StageDifference]:
    """Of the first group's texts to those of each other group."""
    made = (stage_differences.stage_difference(part, chosen[0], other) for other in chosen[1:] for part in _STAGES)
    return [difference for difference in made if difference is not None]


def _fields(differing: ComparedPart, chosen: Sequence[ProgramTexts]) -> Mapping[str, Mapping[int, str]]:
    if differing is ComparedPart.ENVIRONMENT:
        return differing_fields({each.process: each.environment for each in chosen})
    if differing is ComparedPart.OPTIONS:
        return differing_fields({each.process: each.options for each in chosen})
    if differing is ComparedPart.DEVICES:
        return {"devices": {each.process: ", ".join(map(str, each.devices)) for each in chosen}}
    if differing is ComparedPart.ORDER:
        return {}
    return differing_fields({each.process: _argument_fields(each) for each in chosen})


def _config(chosen: Sequence[ProgramTexts]) -> Mapping[str, Mapping[int, str]]:
    return differing_fields({each.process: each.config for each in chosen})


def _argument_fields(texts: ProgramTexts) -> dict[str, str]:
    return {f"argument {at}": kind for at, kind in enumerate(stage_differences.argument_types(texts))}


def _why(
    differing: ComparedPart, chosen: Sequence[ProgramTexts], differences: Sequence[StageDifference]
) -> tuple[CodePlace | None, DisagreementCause]:
    """The line that explains a difference, and its cause."""
    calls = [each.call for each in chosen if each.call is not None]
    called = _suspicious(calls) or (calls[0] if calls else None)
    if differing is ComparedPart.ENVIRONMENT:
        is_flags = _fields(differing, chosen).keys() == {_FLAGS}
        return None, DisagreementCause.FLAGS if is_flags else DisagreementCause.VERSIONS
    if differing is ComparedPart.DEVICES:
        return called, DisagreementCause.DEVICE_ORDER
    if differing is ComparedPart.OPTIONS:
        return called, DisagreementCause.OPTIONS
    if differing is ComparedPart.ORDER:
        return called, _by_suspect(
            called, (ValueOrigin.PROCESS, ValueOrigin.SET_ORDER)
        ) or DisagreementCause.PROGRAM_ORDER
    if len(chosen) < 2:
        return called, DisagreementCause.UNKNOWN
    return _why_texts(chosen, differences, called)


def _why_texts(
    chosen: Sequence[ProgramTexts], differences: Sequence[StageDifference], called: CodePlace | None
) -> tuple[CodePlace | None, DisagreementCause]:
    before, after = chosen[0], chosen[1]
    if stage_differences.is_donation_alone(before, after):
        return called, DisagreementCause.DONATION
    changed = _changed_places(differences)
    place = _suspicious(changed) or (changed[0] if changed else called)
    if stage_differences.argument_types(before) != stage_differences.argument_types(after):
        return called or place, DisagreementCause.LOCAL_SHAPE
    if (cause := _by_suspect(place, tuple(ValueOrigin))) is not None:
        return place, cause
    if stage_differences.meshes(before) != stage_differences.meshes(after):
        return called or place, DisagreementCause.MESH
    if stage_differences.is_order_alone(before, after):
        is_of_set = before.has_sets or after.has_sets
        return place, DisagreementCause.SET_ORDER if is_of_set else DisagreementCause.OPERATION_ORDER
    if stage_differences.explicit_collectives(before) != stage_differences.explicit_collectives(after):
        return place, DisagreementCause.COLLECTIVE_MORE
    if stage_differences.is_constant_alone(before, after):
        return place, DisagreementCause.CAPTURED_VALUE
    by_call = _by_suspect(called, tuple(ValueOrigin))
    if _config(chosen):
        return place, DisagreementCause.CONFIG
    return (place, DisagreementCause.UNKNOWN) if by_call is None else (called, by_call)


def _changed_places(differences: Sequence[StageDifference]) -> list[CodePlace]:
    changed = (LineChange.REMOVED, LineChange.ADDED)
    return [line.place for each in differences for line in each.lines if line.change in changed and line.place]


def _suspicious(places: Iterable[CodePlace]) -> CodePlace | None:
    """The place with the best evidence."""
    order = list(ValueOrigin)
    found = [place for place in places if place.suspects]
    return min(found, key=lambda place: _evidence(place, order)) if found else None


def _evidence(place: CodePlace, order: Sequence[ValueOrigin]) -> tuple[int, bool]:
    return order.index(place.suspects[0].origin), not place.suspects[0].decides


def _by_suspect(place: CodePlace | None, origins: Sequence[ValueOrigin]) -> DisagreementCause | None:
    if place is None:
        return None
    return next((_BY_ORIGIN[one.origin] for one in place.suspects if one.origin in origins), None)
