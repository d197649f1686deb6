"""What one process of a job has compiled, as plain data that the notebook's kernel asks for."""

from __future__ import annotations

import hashlib
import os
import platform
import time
from collections.abc import Sequence

from jaxstage_ext.compilation.events import listening
from jaxstage_ext.compilation.history.history_rows import is_eager
from jaxstage_ext.compilation.persistent import key_differences, missed_entry
from jaxstage_ext.compilation.persistent.key_record import KeyRecord
from jaxstage_ext.compilation.records.compile_log import LOG
from jaxstage_ext.compilation.records.compile_record import Asker, CacheOutcome, CompileRecord, StageName
from jaxstage_ext.compilation.records.record_names import place_text, unique_title
from jaxstage_ext.compilation.records.record_outcome import cache_words, outcome, served_by, stage_seconds
from jaxstage_ext.compilation.records.signature_text import signature_text
from jaxstage_ext.core.jax_private import persistent_cache
from jaxstage_ext.core.jax_private.cache_key_parts import KeyPart
from jaxstage_ext.processes.compile_row_form import CompileRowForm, KeyForm, ProcessLogForm
from jaxstage_ext.report.text.public_paths import public_path
from jaxstage_ext.report.text.terminal import clean

MOST_ROWS = 2_000
"""The newest records that are sent."""
_MOST_KEYS = 32


def start_log() -> bool:
    """Keep the compile log of this process from now on. Returns whether it was kept before."""
    was_on = listening.is_on()
    listening.start()
    return was_on


def compile_rows() -> ProcessLogForm:
    """What this process has traced, lowered and compiled since its log is kept, which it is from now on at the latest.

    JAXStage's own work is left out. It waits for no other process.
    """
    was_on = start_log()
    import jax

    records = [record for record in LOG if record.asker is Asker.USER]
    state = persistent_cache.state()
    return ProcessLogForm(
        process=jax.process_index(),
        processes=jax.process_count(),
        host=platform.node(),
        pid=os.getpid(),
        platform=jax.default_backend(),
        was_on=was_on,
        now=time.time(),
        cache_folder=public_path(state.next_folder) if state.next_folder else "",
        left_out=LOG.dropped + max(len(records) - MOST_ROWS, 0),
        rows=[_row(record) for record in records[-MOST_ROWS:]],
    )


def _row(record: CompileRecord) -> CompileRowForm:
    last = record.stages[-1] if record.stages else None
    facts = record.persistent
    did = facts.outcome if facts is not None else None
    return CompileRowForm(
        number=record.number,
        program=clean(unique_title(record)),
        signature=clean(signature_text(record)),
        line=clean(place_text(record)),
        is_eager=is_eager(record),
        processes=list(record.processes),
        began=record.began,
        ended=None if last is None or last.seconds is None else last.began + last.seconds,
        trace=stage_seconds(record, StageName.TRACE),
        lower=stage_seconds(record, StageName.LOWER),
        compile=stage_seconds(record, StageName.COMPILE),
        outcome=outcome(record).value,
        served_by=[cache.value for cache in served_by(record)],
        cache=did.name if did is not None else "",
        cache_words="" if did in (None, CacheOutcome.OFF) else cache_words(did),
        key=facts.key if facts is not None else "",
    )


def cache_keys(numbers: Sequence[int]) -> dict[int, KeyForm]:
    """What the keys of some compiles in the persistent cache were made of, by the numbers of their records.

    Unknown ones have a reason instead; of numbers that the log does not hold there is nothing.
    """
    wanted = set(list(numbers)[:_MOST_KEYS])
    return {record.number: _key(record) for record in LOG if record.number in wanted}


def _key(record: CompileRecord) -> KeyForm:
    try:
        return _form(missed_entry.key_of(record))
    except (OSError, ValueError) as error:
        return KeyForm(reason=getattr(error, "strerror", None) or str(error), parts={}, words={}, options={})


def _form(known: KeyRecord) -> KeyForm:
    parts = {part.name: hashlib.sha256(b"".join(known.parts[part])).hexdigest() for part in KeyPart}
    words = {part.name: _text(known, part) for part in KeyPart if part not in _WITHOUT_WORDS}
    words[KeyPart.DEVICES.name] = known.devices
    try:
        options = key_differences.option_values(b"".join(known.parts[KeyPart.OPTIONS]))
    except Exception:  # of a jaxlib that made the record and is another one
        options = {}
    return KeyForm(reason="", parts=parts, words=words, options=options)


_WITHOUT_WORDS = (KeyPart.COMPUTATION, KeyPart.OPTIONS, KeyPart.DEVICES)
_LONGEST_WORDS = 2_000


def _text(known: KeyRecord, part: KeyPart) -> str:
    pieces = (piece.decode("utf-8", "replace") for piece in known.parts[part])
    return clean(" ".join(pieces))[:_LONGEST_WORDS]
