"""Compiles of the function that the persistent cache could not save, and never will as the program is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from jaxstage_ext.compilation.history.history import history
from jaxstage_ext.compilation.persistent import miss_causes
from jaxstage_ext.compilation.records.compile_record import Asker, CacheOutcome, CompileRecord, StageName
from jaxstage_ext.compilation.records.record_names import function_title
from jaxstage_ext.core.jax_private import jaxprs, persistent_cache
from jaxstage_ext.core.stage.stageable import code_of
from jaxstage_ext.findings import equation_place
from jaxstage_ext.findings.compile_time import compile_time_finding_wording as wording
from jaxstage_ext.findings.detector import Detector, is_traced
from jaxstage_ext.findings.finding import Certainty, CodeChange, Finding, Stake, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.progress import Progress

_LEAST_VALUES = 2
"""Entries of other values of a constant from which on it is one that varies, and no edit of the code."""
_WITH_ADDRESS = "custom_partitioning"
"""The primitive whose lowering writes the address of a Python object."""


def find(program: Program, progress: Progress | None = None) -> list[Finding]:
    """At most one finding, of the newest compile that missed."""
    code = code_of(program.call.fn)
    if code is None:
        return []
    log = history()
    own = [one for one in log.records if one.function is not None and one.function.code == code]
    missed = [one for one in own if one.asker is Asker.USER and _has_missed(one)]
    return _of(program, missed[-1], log.verdict(missed[-1]).nearest is None) if missed else []


def _has_missed(record: CompileRecord) -> bool:
    facts = record.persistent
    return facts is not None and bool(facts.folder) and facts.outcome in (CacheOutcome.WRITTEN, CacheOutcome.UNREADABLE)


def _of(program: Program, record: CompileRecord, is_first: bool) -> list[Finding]:
    title, facts = function_title(record), record.persistent
    assert facts is not None
    if facts.outcome is CacheOutcome.UNREADABLE:
        file = os.path.join(facts.folder, facts.key + persistent_cache.SUFFIX)
        return [_finding(record, wording.unreadable_entry(title), wording.delete_entry(file))]
    change = miss_causes.program_change(record.number)
    eqn = next((one for one, _ in _equations(program) if one.primitive.name == _WITH_ADDRESS), None)
    if eqn is not None or (change is not None and change.is_address):
        return [_of_address(program, record, eqn, is_seen=change is not None and change.is_address)]
    if change is not None and change.constants and is_first and change.entries >= _LEAST_VALUES:
        text = wording.constant_in_key(title, change.constants, change.entries)
        return [_finding(record, text, wording.VALUE_AS_ARGUMENT)]
    return []


def _equations(program: Program) -> Iterator[tuple[Any, int]]:
    return jaxprs.nested_equations(program.jax_traced.jaxpr)


def _of_address(program: Program, record: CompileRecord, eqn: Any, is_seen: bool) -> Finding:
    text = wording.address_in_key(function_title(record), "" if eqn is None else _WITH_ADDRESS)
    line = "" if eqn is None else equation_place.place(program, eqn).label
    found = _finding(record, text, "" if eqn is None else wording.WITHOUT_ADDRESS, line)
    return found if is_seen else replace(found, certainty=Certainty.INFERRED)


def _finding(record: CompileRecord, text: str, code: str, line: str = "") -> Finding:
    run = record.stage(StageName.COMPILE)
    seconds = None if run is None else run.seconds
    return Finding(
        FindingKind.PERSISTENT_MISS,
        text,
        Stake(StakeMeasure.COMPILE, None, seconds, record.own_seconds or None),
        line=line,
        change=CodeChange(code) if code else None,
        certainty=Certainty.COUNTED,
    )


DETECTOR = Detector(FindingKind.PERSISTENT_MISS, find, is_traced, is_kept=False)
