"""Stale global variables in words."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from jaxstage_ext.compilation.records.compile_record import KeptValue
from jaxstage_ext.compilation.records.record_names import function_title, place_text
from jaxstage_ext.compilation.records.stale_names import StaleName
from jaxstage_ext.report.text.bounded_repr import plain_pair, plain_repr
from jaxstage_ext.report.text.public_paths import public_folders
from jaxstage_ext.report.text.shortened import some
from jaxstage_ext.report.text.terminal import clean
from jaxstage_ext.report.text.typed_forms import typed
from jaxstage_ext.report.text.units import plural

REMEDY = (
    "JAX does not trace a function again when such a variable changes: pass it as an argument, or define the function "
    "again."
)
_MOST, _LONGEST = 5, 60


def stale_notes(stale: Sequence[StaleName], known: Collection[str] = ()) -> tuple[str, ...]:
    """`stale: scale was 2 when f was traced (In [3]:4), and is 3 now`: a sentence each, and what to do.

    Of those whose sentence is known already, one line with their names.
    """
    notes = [f"stale: {clean(public_folders(_note(one)))}." for one in stale]
    new = [note for note in notes if note not in known]
    names = dict.fromkeys(clean(one.name) for one, note in zip(stale, notes, strict=True) if note in known)
    if len(new) > _MOST:
        new[_MOST:] = [f"and {plural(len(new) - _MOST, 'more stale variable')}"]
    return (*new, *([REMEDY] if new else []), *([_still(list(names))] if names else []))


def _still(names: Sequence[str]) -> str:
    return f"still stale: {some(names, _MOST)}; {typed('%compiles all', 'jaxstage_ext.compiles()')} says since when."


def _note(stale: StaleName) -> str:
    line = place_text(stale.record)
    traced = f"when {function_title(stale.record)} was traced{f' ({line})' if line else ''}"
    return f"{stale.name} {_change(stale.before, stale.now, traced)}"


def _change(before: KeptValue, now: KeptValue, traced: str) -> str:
    if before.code is not None and now.code is not None:
        return f"has been redefined since it was used {traced}"
    was, today = _text(before), _text(now)
    if was == today and _is_shown(before) and _is_shown(now):
        was, today = plain_pair(before.value, now.value, _LONGEST)
    return f"was {was} {traced} and is {today if today != was else 'another one'} now"


def _is_shown(value: KeptValue) -> bool:
    """Whether a value itself is told: text may be a secret."""
    return value.is_kept and not isinstance(value.value, str | bytes)


def _text(value: KeptValue) -> str:
    if _is_shown(value):
        return plain_repr(value.value, _LONGEST)
    return f"an array {value.shape}" if value.shape else "a function" if value.code is not None else f"a {value.type}"
