"""What sets of XLA flags change, in words."""

from __future__ import annotations

from collections.abc import Sequence

from jaxstage_ext.profiling.predictions.predicted_timeline_wording import NAMES
from jaxstage_ext.program.comparing.what_if_row import ScheduleCounts, WhatIfRow
from jaxstage_ext.report.prediction import Prediction
from jaxstage_ext.report.text.units import plural, scaled, share

BASE = "as it is"
SAME = "XLA makes the same HLO"
ESTIMATED_OTHERWISE = "XLA estimates otherwise under these flags, so its time is not comparable"
NOTHING_COUNTED = "other instructions; as many collectives and fusions"
_LEAST = 0.001
"""Of a time, a difference that is none."""


def changed(row: WhatIfRow, base: WhatIfRow) -> str:
    """What the flags changed in the schedule, of a row that was compiled; why it was not, of any other."""
    if row is base:
        return ""
    if row.program is None:
        return row.why or row.end.value
    if row.is_same_as(base):
        return SAME
    own, before = row.counts, base.counts
    parts = [] if own is None or before is None else _counts(own, before)
    parts = parts or [NOTHING_COUNTED]
    return "; ".join(parts if row.is_comparable else [*parts, ESTIMATED_OTHERWISE])


def _named(prediction: Prediction | None) -> str:
    """`XLA's estimate for h100:8`."""
    return f"{NAMES[prediction.estimator]} for {prediction.target}" if prediction is not None else ""


def _counts(own: ScheduleCounts, before: ScheduleCounts) -> list[str]:
    kinds = dict.fromkeys([*before.collectives, *own.collectives])
    pairs = [(kind, before.collectives.get(kind, 0), own.collectives.get(kind, 0)) for kind in kinds]
    pairs += [("asynchronous collectives", before.asynchronous, own.asynchronous)]
    pairs += [("fusions", before.fusions, own.fusions)]
    return [f"{name} {old:,} → {new:,}" for name, old, new in pairs if old != new]


def headline(rows: Sequence[WhatIfRow], base: WhatIfRow) -> str:
    """Which set is best by the estimate, and what it gains; why there is no estimate, where there is none."""
    if base.seconds is None:
        return f"No estimate of the time: {base.why_no_estimate}. Ordered by lower bound, then by memory needed."
    estimated = [row for row in rows if row.seconds is not None and row.is_comparable]
    best = min(estimated, key=lambda row: row.seconds or 0.0, default=base)
    whole = f"{scaled(base.seconds, 's')} ({_named(base.prediction)})"
    gained = base.seconds - (best.seconds or 0.0)
    if best is base or gained <= _LEAST * base.seconds:
        return f"None of {plural(len(estimated) - 1, 'set')} of flags gives less than {whole}."
    return f"{best.label} saves {share(gained / base.seconds)}: {scaled(best.seconds or 0.0, 's')} in place of {whole}."


def not_compiled(why: str) -> str:
    """Why there is nothing to compare flags with."""
    return f"the program as it is does not compile: {why}"


def apply(row: WhatIfRow) -> str:
    """The code that compiles with a set of flags."""
    return f"jax.jit(…, compiler_options={dict(row.options)!r})"


def unknown_flags(names: Sequence[str]) -> str:
    """Which flags the installed jaxlib does not have, so that their sets were not tried."""
    return f"Not tried, since this jaxlib does not have them: {', '.join(names)}."


def not_tried(count: int) -> str:
    """How many sets there was no time for."""
    return f"{plural(count, 'set')} of flags {'was' if count == 1 else 'were'} not tried; a larger budget= tries more."


ESTIMATE_NOTE = (
    "Times are estimates, never compared with a device; a flag may also change what they leave out, such as launches "
    "and contention among collectives."
)
