"""The earlier record that differs least from one: what its cause is told against."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from jaxstage_ext.compilation.causes.cause import Cause, Difference
from jaxstage_ext.compilation.causes.function_differences import function_differences, is_same_code, is_same_function
from jaxstage_ext.compilation.causes.option_differences import (
    context_differences,
    option_differences,
    static_differences,
)
from jaxstage_ext.compilation.causes.sameness import equal, is_number, same_value
from jaxstage_ext.compilation.causes.signature_differences import same_tree, signature_differences
from jaxstage_ext.compilation.records.compile_record import CompileRecord, KeptValue, StageName

MOST_DIFFERENCES: Final = 16
_MOST_DETAILED: Final = 6
_WEIGHTS: Final = {
    Cause.REDEFINED: 12.0,
    Cause.CONFIG: 6.0,
    Cause.PYTREE: 4.0,
    Cause.CAPTURED: 0.5,
    Cause.SETTINGS_ADDED: 0.5,
    Cause.UNKNOWN: 0.25,
}
_ORDINARY: Final = 3.0
_OF_CLASS: Final = 1.0
"""A class of the same name that was defined again."""
_EACH_MORE: Final = 0.1
"""Further differences of one cause weigh little: a batch changes the shape of many arguments at once."""


@dataclass(frozen=True, slots=True)
class RecordComparison:
    """One earlier record and all in which the later one differs."""

    before: CompileRecord
    differences: tuple[Difference, ...]

    @property
    def weight(self) -> float:
        """How far apart they are; 0 where nothing differs."""
        seen: set[Cause] = set()
        total = 0.0
        for difference in self.differences:
            total += _EACH_MORE if difference.cause in seen else _weight(difference)
            seen.add(difference.cause)
        return total


def _weight(difference: Difference) -> float:
    is_of_class = difference.cause is Cause.PYTREE and difference.before == difference.now
    return _OF_CLASS if is_of_class else _WEIGHTS.get(difference.cause, _ORDINARY)


def nearest(record: CompileRecord, earlier: Sequence[CompileRecord]) -> RecordComparison | None:
    """The comparison with the nearest earlier record, the latest of equally near ones; None where there is none."""
    best: RecordComparison | None = None
    for before in _closest(record, _comparable(record, earlier)):
        comparison = RecordComparison(before, differences(before, record))
        if best is None or comparison.weight < best.weight:
            best = comparison
        if not best.differences:
            break
    return best


def _closest(record: CompileRecord, earlier: Sequence[CompileRecord]) -> list[CompileRecord]:
    """The few records that share the most whole parts with one, the latest first: only these are compared in detail."""
    if len(earlier) <= _MOST_DETAILED:
        return list(reversed(earlier))
    distances = [_distance(before, record) for before in reversed(earlier)]
    order = sorted(range(len(distances)), key=distances.__getitem__)
    return [earlier[-1 - at] for at in order[:_MOST_DETAILED]]


def _distance(before: CompileRecord, now: CompileRecord) -> float:
    """About the weight of their differences, from whole parts."""
    total = 0.0 if equal(before.context, now.context) is True else _WEIGHTS[Cause.CONFIG]
    total += _ORDINARY * (before.jit_options is not now.jit_options or before.compiler_options != now.compiler_options)
    first, second = before.signature, now.signature
    if first is not None and second is not None:
        total += 0.0 if equal(first.tree, second.tree) is True else _WEIGHTS[Cause.PYTREE]
        total += 0.0 if equal(first.avals, second.avals) is True else _ORDINARY
        total += 0.0 if equal(first.placements, second.placements) is True else _ORDINARY
        total += sum(map(_is_other_value, first.statics, second.statics))
    if before.function is not None and now.function is not None and not is_same_function(before.function, now.function):
        total += _ORDINARY if is_same_code(before.function, now.function) else _WEIGHTS[Cause.REDEFINED]
    return total


def _is_other_value(first: KeptValue, second: KeptValue) -> float:
    return 0.0 if same_value(first, second) is True else _ORDINARY


def differences(before: CompileRecord, now: CompileRecord) -> tuple[Difference, ...]:
    """Everything in which two records of one function differ, as far as JAX's caches look at it."""
    found = (
        *context_differences(before, now),
        *option_differences(before, now),
        *static_differences(before, now),
        *signature_differences(before, now),
        *function_differences(before, now),
    )
    return without_overlaps(found, _numbers(before) | _numbers(now))


def _numbers(record: CompileRecord) -> frozenset[str]:
    """The static arguments that are numbers."""
    statics = record.signature.statics if record.signature else ()
    return frozenset(value.name for value in statics if is_number(value.value))


def _comparable(record: CompileRecord, earlier: Sequence[CompileRecord]) -> Sequence[CompileRecord]:
    """All, or where JAX had the trace, those that could have made it."""
    trace = record.stage(StageName.TRACE)
    if record.signature is None or (trace is not None and not trace.was_cached):
        return earlier
    return [before for before in earlier if _could_share_trace(before, record)] or earlier


def _could_share_trace(before: CompileRecord, now: CompileRecord) -> bool:
    first, second = before.signature, now.signature
    if first is None or second is None or before.function is None or now.function is None:
        return False
    return (
        is_same_function(before.function, now.function)
        and equal(first.avals, second.avals) is True
        and same_tree(first, second)
    )


AS_ARRAY: Final = "jnp.asarray"
"""The target of an argument that is an array in one call and static in the other, as Equinox has them."""
_STATIC: Final = (Cause.STATIC_VALUE, Cause.STATIC_IDENTITY)
_NOTHING: Final = ("", "None")


def without_overlaps(differences: Sequence[Difference], numbers: Collection[str]) -> tuple[Difference, ...]:
    """Those that say something of their own; `numbers` are the static arguments that are numbers."""
    if not any(difference.cause in _STATIC for difference in differences):
        return tuple(differences)
    return tuple(_merged([each for each in differences if not _is_part_of_whole(each, differences)], numbers))


def _is_part_of_whole(part: Difference, differences: Sequence[Difference]) -> bool:
    """Whether it is a static part of an argument that only one of the calls gives."""
    return part.cause in _STATIC and any(
        part.what.startswith((f"{whole.what}.", f"{whole.what}["))
        for whole in differences
        if whole.cause in (Cause.ARGUMENT_FORM, Cause.PYTREE) and "" in (whole.before, whole.now)
    )


def _merged(differences: Sequence[Difference], numbers: Collection[str]) -> Iterator[Difference]:
    """With an argument that is static in one of the calls as one difference."""
    statics = {each.what: each for each in differences if each.cause in _STATIC}
    merged = {}
    for each in differences:
        static = statics.get(each.what)
        if each.cause is Cause.PYTREE and static is not None and _is_other_side(each, static):
            now = each.now if static.now in _NOTHING else static.now
            before = each.before if static.before in _NOTHING else static.before
            merged[each.what] = replace(each, before=before, now=now, target=AS_ARRAY if each.what in numbers else "")
    for each in differences:
        if each.what not in merged:
            yield each
        elif each.cause is Cause.PYTREE:
            yield merged[each.what]


def _is_other_side(dynamic: Difference, static: Difference) -> bool:
    """Whether each has nothing where the other has a value."""
    return (dynamic.before in _NOTHING) == (static.now in _NOTHING) != (dynamic.now in _NOTHING)
