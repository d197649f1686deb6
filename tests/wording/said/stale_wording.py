"""Variables that changed after the trace."""

from typing import Any

from compile_records import compile_record

from jaxstage_ext.compilation.records.compile_record import KeptValue
from jaxstage_ext.compilation.records.stale_names import StaleName
from jaxstage_ext.views.compiled.stale_wording import REMEDY, stale_notes

RECORD, ELSEWHERE = compile_record(), compile_record(user_line=None)


def number(value: Any) -> KeptValue:
    return KeptValue("scale", type(value).__name__, value, is_kept=True)


def stale(before: KeptValue, now: KeptValue, name: str = "scale") -> StaleName:
    return StaleName(RECORD, name, before, now)


TWO = stale(number(2), number(3))
CODE = KeptValue("f", "function", code=stale.__code__)
MANY = [stale(number(2), number(3), f"scale_{n}") for n in range(8)]
SAID = {
    "remedy": REMEDY,
    "a number": stale_notes([TWO]),
    "no line": stale_notes([TWO._replace(record=ELSEWHERE)])[0],
    "a function": stale_notes([stale(CODE, CODE)])[0],
    "a function that was a number": stale_notes([stale(number(2), CODE)])[0],
    "an array": stale_notes([stale(KeptValue("t", "ndarray", shape="f32[8]"), KeptValue("t", "list"))])[0],
    "a text": stale_notes([stale(number("a"), number("b"))])[0],
    "eight variables": stale_notes(MANY),
    "one that was said": stale_notes([TWO], stale_notes([TWO])),
    "eight that were said": stale_notes(MANY, [note for one in MANY for note in stale_notes([one])]),
}
