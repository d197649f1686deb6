"""Whether the dumps of a pass pipeline are all there: by their numbers, and by the log of what ran."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from jaxstage_ext.worker.inside.dump_room import DumpCut
from jaxstage_ext.worker.inside.pass_log import Ran

START, END = "pipeline-start", "pipeline-end"
FIRST, LAST = "before_optimizations", "after_optimizations"
_UNFIT = re.compile(r"[/\\\[\] ]")


class Dump(NamedTuple):
    """The module as it was after a pass, or where a pipeline begins; `version` numbers its text."""

    pipeline: str
    after: str
    before: str
    version: int


def check(numbers: Mapping[str, set[int]], dumps: Sequence[Dump], ran: Sequence[Ran], cut_short: bool) -> None:
    """Raise DumpCut unless every dump was read.

    Args:
      numbers: by module, those that XLA gave its dumps, from 0.
      dumps: those that were read.
      ran: what the log says ran; empty where there is no log.
      cut_short: whether the compile failed, or was left before its end, so that the last dumps and lines may lack.
    """
    for module, given in numbers.items():
        if missing := set(range(max(given, default=-1) + 1)) - given:
            raise DumpCut(f"dump {min(missing)} of {max(given)} that XLA wrote of {module} is missing")
    names = {dump.after for dump in dumps}
    for name in (FIRST,) if cut_short else (FIRST, LAST):
        if name not in names:
            raise DumpCut(f"XLA's dump of the module {name.replace('_', ' ')} is missing")
    if ran:
        _check_log(dumps, ran, cut_short)


def _check_log(dumps: Sequence[Dump], ran: Sequence[Ran], cut_short: bool) -> None:
    """XLA dumps the module where a pipeline begins, and after each pass that changed it."""
    logged, dumped = (
        [fit(this.pipeline) for this in ran if not this.name],
        [dump.pipeline for dump in dumps if dump.after == START],
    )
    if dumped != logged[: len(dumped)] or (not cut_short and len(logged) > len(dumped)):
        raise DumpCut(f"XLA logged {len(logged)} pipelines of passes and dumped {len(dumped)}")
    changed = Counter((dump.pipeline, dump.after) for dump in dumps if dump.pipeline and dump.after != START)
    lacks = changed - Counter((fit(this.pipeline), fit(this.name)) for this in ran if this.name)
    if lacks and not cut_short:
        raise DumpCut(f"XLA dumped pass {next(iter(lacks))[1]}, which its log does not name")


def fit(name: str) -> str:
    """A name as it stands in the name of a file."""
    return _UNFIT.sub("_", name)
