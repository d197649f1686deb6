"""What the persistent cache did for a compile: its events, its limits, and the entry's file before and after."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import Any

from jaxstage_ext.compilation.persistent import (
    damaged_entries,
    entry_check,
    flag_watch,
    folder_state,
    process_tally,
    record_store,
)
from jaxstage_ext.compilation.persistent.cache_commands import setting_aside
from jaxstage_ext.compilation.persistent.entry_check import EntryCheck, Version
from jaxstage_ext.compilation.persistent.folder_state import FolderUse
from jaxstage_ext.compilation.persistent.key_record import KeyRecord
from jaxstage_ext.compilation.records.compile_record import CacheOutcome, PersistentFacts
from jaxstage_ext.core.jax_private import compile_watch, persistent_cache
from jaxstage_ext.report.text.public_paths import public_text
from jaxstage_ext.report.text.typed_forms import typed

REMOTE = "the folder is not on this machine, and its files are not read"


@dataclass
class Observed:
    """One compile that asked the cache."""

    request: persistent_cache.CacheRequest
    folder: str
    """That JAX was to use."""
    before: Version | None
    """Identity, size and time of the entry's file; None where there was none."""
    limits: persistent_cache.WriteLimits | None
    """What JAX does not write; None where it was to use no folder."""
    flags: tuple[bytes, ...] = ()
    """XLA's flags in the key."""
    record: KeyRecord | None = None
    check: EntryCheck | None = None
    """`record`, `check`: what is known of the entry that was there before."""
    began: float = 0.0
    was_hit: bool = False
    was_written: bool = False
    """`was_hit`, `was_written`: which events came."""
    saved: float | None = None
    read: float | None = None
    """`saved`, `read`: seconds that they gave."""


def observe() -> Observed | None:
    """The compile that asks the cache now, before JAX reads its entry; a damaged one is reported or set aside."""
    request = persistent_cache.current_request()
    if request is None:
        return None
    folder = persistent_cache.next_folder()
    limits = persistent_cache.write_limits() if folder else None
    observed = Observed(request, folder, None, limits, flag_watch.note())
    if flag_watch.have_changed(observed.flags):
        flag_watch.warn_of(observed.flags, bool(folder))
    if folder and not is_remote(folder):
        _look_at_entry(observed, entry_path(folder, request.key))
    return observed


def without_request() -> None:
    """A compile ends that did not ask the cache: where JAX uses one, it could not make the key."""
    if persistent_cache.wants_keys() and not compile_watch.is_replaced():
        process_tally.count_without_key()


def _look_at_entry(observed: Observed, path: str) -> None:
    observed.before = entry_check.version(path)
    if observed.before is None:
        return
    observed.record = record_store.record_of(observed.folder, observed.request.key)
    seal = observed.record.seal if observed.record else None
    observed.check = entry_check.check(path, seal) if seal else EntryCheck.NOT_VERIFIED
    if observed.check is None or not observed.check.is_suspect:
        return
    if damaged_entries.handle(path, observed.before, observed.check):
        observed.before = None
        process_tally.count_set_aside()


def entry_path(folder: str, key: str) -> str:
    """The file of an entry."""
    return os.path.join(folder, key + persistent_cache.SUFFIX)


def packed_otherwise(packing: str) -> str:
    """Why JAX does not read an entry that has the right key, as where Python 3.14 and an older one share a folder."""
    return f"its entry is compressed with {packing}, which JAX does not read with this Python"


def is_remote(folder: str) -> bool:
    """Whether a folder is in a store such as gs://."""
    return "://" in folder and not folder.startswith("file://")


def facts(observed: Observed) -> PersistentFacts:
    """What the cache did for the compile that ends now; an entry that was written or read is recorded."""
    seconds = time.monotonic() - observed.began
    folder = persistent_cache.folder_in_use()
    if not folder and not observed.was_hit:
        _explain_opening(observed)
        made = _made(observed, CacheOutcome.OFF, _why_off())
    else:
        made = _made(observed, *_outcome(observed, folder), folder)
        _record(made, observed, seconds)
    process_tally.add(made, seconds)
    return made


def _made(observed: Observed, outcome: CacheOutcome, reason: str, folder: str = "") -> PersistentFacts:
    return PersistentFacts(
        outcome,
        observed.request.key,
        folder,
        module_name=observed.request.module_name,
        flags=observed.flags,
        has_other_flags=flag_watch.have_changed(observed.flags),
        check=observed.check.value if observed.check else "",
        reason=reason,
        limit=_limit(outcome, observed.limits),
    )


def _why_off() -> str:
    """Why no folder is in use although one is set; "" where none is set."""
    use = folder_state.folder_state().use
    return "" if use is FolderUse.NOT_SET else f"the folder that is set {use.words}"


def _limit(outcome: CacheOutcome, limits: persistent_cache.WriteLimits | None) -> float | None:
    if outcome is CacheOutcome.FASTER_THAN_LIMIT:
        return (limits or persistent_cache.write_limits()).seconds
    if outcome is CacheOutcome.SMALLER_THAN_LIMIT:
        return (limits or persistent_cache.write_limits()).bytes
    return None


def _record(made: PersistentFacts, observed: Observed, seconds: float) -> None:
    path = entry_path(made.folder, made.key)
    if made.outcome is CacheOutcome.HIT:
        made.read_seconds = observed.read
        _add_saved(made, observed)
        record_store.after_hit(made, observed.request, observed.record)
    elif made.outcome is CacheOutcome.WRITTEN:
        record_store.after_write(made, path, observed.request, seconds)
    after = entry_check.version(path)
    made.entry_bytes = after[1] if after else None


def _add_saved(made: PersistentFacts, observed: Observed) -> None:
    """JAX stores whole seconds of compile time, cut: of a compile below one second nothing is known."""
    if observed.saved is None or observed.read is None:
        return
    stored = round(observed.saved + observed.read)
    if stored >= 1:
        made.compile_seconds, made.saved_seconds = float(stored), observed.saved


def _outcome(observed: Observed, folder: str) -> tuple[CacheOutcome, str]:
    if observed.was_hit:
        return CacheOutcome.HIT, ""
    error = persistent_cache.failure_now()
    if error is not None:
        return _failed(error, observed)
    if is_remote(folder):
        return CacheOutcome.UNKNOWN, REMOTE
    after = entry_check.version(entry_path(folder, observed.request.key))
    if observed.was_written:
        return _after_write(observed, after)
    if observed.before is not None and after == observed.before:
        if persistent_cache.checks_contents():
            return CacheOutcome.UNKNOWN, "jax_compilation_cache_check_contents compiles to check the entry"
        return CacheOutcome.UNREADABLE, _why_unreadable(observed)
    return _not_written(observed), ""


def _why_unreadable(observed: Observed) -> str:
    other = entry_check.other_packing(entry_path(observed.folder, observed.request.key))
    return other and packed_otherwise(other)


def _failed(error: BaseException, observed: Observed) -> tuple[CacheOutcome, str]:
    where = persistent_cache.failed_in_cache(error)
    if where:
        _explain(error, where, observed)
    if where == "read":
        return CacheOutcome.UNREADABLE, f"{type(error).__name__}"
    if where == "written":
        return CacheOutcome.WRITE_FAILED, f"{type(error).__name__}"
    return CacheOutcome.UNKNOWN, "the compile failed"


def _explain_opening(observed: Observed) -> None:
    error = persistent_cache.failure_now()
    if error is not None and persistent_cache.failed_to_open(error):
        error.add_note(not_opened(observed.folder))


def _explain(error: BaseException, where: str, observed: Observed) -> None:
    """Where `jax_raise_persistent_cache_errors` raises out of a compile, the traceback names the cache and a remedy."""
    path = entry_path(observed.folder, observed.request.key)
    shows = typed("%compile_cache", "jaxstage_ext.compile_cache()")
    remedy = f"Delete that file, or run {setting_aside()}" if where == "read" else f"See {shows}"
    error.add_note(
        f"JAX's persistent compilation cache in {observed.folder}: the entry {path} could not be {where}, and "
        f"jax_raise_persistent_cache_errors is on. {remedy}."
    )


def _after_write(observed: Observed, after: Version | None) -> tuple[CacheOutcome, str]:
    if after is not None and after == observed.before:
        return CacheOutcome.UNREADABLE, _why_unreadable(observed)  # JAX leaves an entry that is there
    if after is not None:
        return CacheOutcome.WRITTEN, ""
    state = persistent_cache.state()
    if state.evicts and (size := _entry_bytes(persistent_cache.compiled_now())) is not None and size > state.max_size:
        return CacheOutcome.LARGER_THAN_LIMIT, ""
    return CacheOutcome.WRITE_FAILED, ""


def _not_written(observed: Observed) -> CacheOutcome:
    """Why JAX did not come to write, in the order of its own tests."""
    if not persistent_cache.is_first_process():
        return CacheOutcome.NOT_FIRST_PROCESS
    if observed.request.has_callbacks and not persistent_cache.writes_callbacks():
        return CacheOutcome.NOT_SERIALISABLE
    limits = observed.limits or persistent_cache.write_limits()
    if time.monotonic() - observed.began < limits.seconds:
        return CacheOutcome.FASTER_THAN_LIMIT
    size = _entry_bytes(persistent_cache.compiled_now())
    if size is None:
        return CacheOutcome.NOT_SERIALISABLE
    return CacheOutcome.SMALLER_THAN_LIMIT if size < limits.bytes else CacheOutcome.FASTER_THAN_LIMIT


def _entry_bytes(executable: Any) -> int | None:
    """The size of an executable's entry; None where it cannot be serialised."""
    try:
        return persistent_cache.entry_bytes(executable)
    except Exception:  # whatever its backend raises
        return None


def not_opened(folder: str) -> str:
    """What is said of an error that JAX raises because it cannot open the folder."""
    return (
        f"JAX cannot open its persistent compilation cache, {public_text(folder)} (jax_compilation_cache_dir), and "
        "jax_raise_persistent_cache_errors is on; without that, it compiles without the cache and warns."
    )
