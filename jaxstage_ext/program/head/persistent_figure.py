"""Whether JAX's persistent cache had the executable of a program, or will have it, as a figure of its head."""

from __future__ import annotations

from jaxstage_ext.compilation.persistent import cache_wording, expected_outcome, missed_entry
from jaxstage_ext.compilation.persistent.missed_entry import MissedEntry
from jaxstage_ext.compilation.records.compile_record import CacheOutcome, CompileRecord
from jaxstage_ext.compilation.records.record_outcome import cache_words
from jaxstage_ext.core.options import build_options
from jaxstage_ext.core.stage.stage_definition import COMPILE
from jaxstage_ext.core.stage.staged import Cache
from jaxstage_ext.program.head.summary_form import FigureSummary, labelled
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.source.cached_lines import MATCHED, cached_lines
from jaxstage_ext.report.figure import Figure


def persistent_figures(program: Program) -> list[FigureSummary]:
    """Hit or miss and the key, of a compile that asked a cache, or of a lowered program; else none."""
    return [labelled("persistent cache", figure) for figure in _figures(program)]


def _figures(program: Program) -> list[Figure]:
    stage = program.staged.stage(COMPILE)
    if program.executable is None and (stage is None or stage.error is not None):
        if program.jax_lowered is None or not program.target.is_local:
            return []
        return program.results.once("expected from the persistent cache", lambda: _expected(program))
    record = program.compile_record()
    if record is not None and record.persistent is not None:
        return _of_record(record, program)
    if stage is not None and stage.hit is not None and stage.hit.cache is Cache.PERSISTENT:
        return [_hit(program, *_key_and_folder(program))]
    return []


def _of_record(record: CompileRecord, program: Program) -> list[Figure]:
    facts = record.persistent
    if facts is None or facts.outcome is CacheOutcome.OFF or not facts.folder:
        return []
    where = _where(facts.key, facts.folder)
    if facts.outcome is CacheOutcome.HIT:
        return [_hit(program, facts.key, facts.folder)]
    if facts.outcome is CacheOutcome.UNKNOWN:
        return [Figure(None, facts.reason, where)]
    return [Figure(cache_words(facts.outcome), remark=_with_reasons(where, missed_entry.explain(record)))]


def _hit(program: Program, key: str, folder: str) -> Figure:
    where, places = _where(key, folder), cached_lines(program)
    return Figure("hit", remark=where if places is None or places.unknown else f"{where}. {MATCHED}")


def _key_and_folder(program: Program) -> tuple[str, str]:
    """Those of the program, made once more where the compile log was off."""
    if program.jax_lowered is None:
        return "", ""
    expected = expected_outcome.outcome_of(program.jax_lowered, build_options.for_xla(program.call.compiler_options))
    return expected.key, expected.folder


def _expected(program: Program) -> list[Figure]:
    """What a compile of a lowered program would come to."""
    options = build_options.for_xla(program.call.compiler_options)
    expected = expected_outcome.outcome_of(program.jax_lowered, options)
    if not expected.folder:
        return []
    where = _where(expected.key, expected.folder)
    if expected.is_hit is None:
        return [Figure(None, expected.reason, where)]
    if expected.is_hit:
        checked = f". The entry is {expected.check.value}" if expected.check is not None else ""
        return [Figure("will hit", remark=f"{where}{checked}")]
    return [Figure("will miss", remark=_with_reasons(where, expected.missed))]


def _with_reasons(where: str, missed: MissedEntry | None) -> str:
    why = "; ".join(cache_wording.missed_words(missed)) if missed is not None else ""
    return f"{where}. {why}" if why else where


def _where(key: str, folder: str) -> str:
    return f"key {key or 'unknown'}, folder {folder or 'unknown'}"
