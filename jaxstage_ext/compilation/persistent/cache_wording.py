"""What is known of the persistent cache, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from jaxstage_ext.compilation.persistent import miss_causes
from jaxstage_ext.compilation.persistent.cache_commands import setting_aside
from jaxstage_ext.compilation.persistent.cache_entries import CacheEntry
from jaxstage_ext.compilation.persistent.cache_report import CacheReport
from jaxstage_ext.compilation.persistent.folder_name import folder_name
from jaxstage_ext.compilation.persistent.folder_state import FolderState, FolderUse
from jaxstage_ext.compilation.persistent.key_differences import KeyDifference
from jaxstage_ext.compilation.persistent.miss_causes import MissCause, MissCauses, MissGroup
from jaxstage_ext.compilation.persistent.missed_entry import MissedEntry
from jaxstage_ext.compilation.persistent.process_tally import CacheTally
from jaxstage_ext.compilation.records.compile_record import CacheOutcome
from jaxstage_ext.core.jax_private import persistent_cache
from jaxstage_ext.core.jax_private.cache_key_parts import KeyPart
from jaxstage_ext.report.text.shortened import some
from jaxstage_ext.report.text.typed_forms import typed
from jaxstage_ext.report.text.units import duration, plural, scaled, share

_RESET = "jax.experimental.compilation_cache.compilation_cache.reset_cache()"
_NAMED = 3
_PYTHONS = (
    "Python 3.14 compresses entries with zstandard, older ones with zlib, under the same keys: each needs a folder "
    "of its own"
)
_LEAST_FREE = 1_000_000
"""Bytes that an entry of a usual program needs."""
_CAUSES = {
    MissCause.NO_EARLIER_ENTRY: "first time (no earlier entry of that name)",
    MissCause.NOT_WRITTEN_BEFORE: "compiled before and not written then",
    MissCause.REMOVED: "whose entry was removed",
    MissCause.UNREADABLE: "whose entry could not be read",
    MissCause.UNKNOWN: "unknown, since the parts of the key are not recorded",
}
_SECONDS, _BYTES = "{:g} s", "{:,}"


def headline(report: CacheReport) -> str:
    """The folder in use, or that none is."""
    state = report.state
    if not state.folder:
        return "JAX's persistent compilation cache is not in use"
    verb = "will use" if state.use is FolderUse.NOT_OPENED_YET else "uses"
    return f"JAX's persistent compilation cache {verb} {folder_name(state.folder)}"


def sentences(report: CacheReport) -> list[str]:
    """All that is known, the most important first."""
    return [*_folder(report), *_set_aside(report), *_contents(report), *_kernel(report), *_limits(report)]


def warnings(report: CacheReport) -> list[str]:
    """What is wrong, and what to do about it."""
    return [*_wrong_folder(report.state), *_wrong_keys(report.tally), *_wrong_entries(report)]


def _folder(report: CacheReport) -> Iterator[str]:
    state = report.state
    if state.use is FolderUse.NOT_SET:
        yield ("jax_compilation_cache_dir is not set, so every new kernel compiles its programs again")
    elif state.use is FolderUse.NOT_OPENED_YET and not report.tally.without_key:
        yield "No compile has asked for it yet; the next one opens it"


def _wrong_keys(tally: CacheTally) -> Iterator[str]:
    if tally.without_key:
        yield (
            f"JAX could not make the key of {plural(tally.without_key, 'compile')}, and skipped the cache; its error "
            'says why, logged as "unable to generate cache key"'
        )


def _wrong_folder(state: FolderState) -> Iterator[str]:
    was_set = folder_name(state.set_folder)
    if state.use is FolderUse.EARLIER_FOLDER:
        what = f"{was_set} was set later" if was_set else "jax_compilation_cache_dir was unset later"
        yield f"{what}, and JAX keeps the folder that it opened first; {_RESET} makes it take the new one"
    elif state.use is FolderUse.DISABLED:
        yield f"{was_set} is set, but jax_enable_compilation_cache is False"
    elif state.use is FolderUse.DISABLED_AT_FIRST:
        yield (
            f"{was_set} is set, but at the first compile the cache was disabled or the backend did not support it, "
            f"and JAX decides once; {_RESET} makes it decide once more"
        )
    elif state.use is FolderUse.NEEDS_FILELOCK:
        yield (
            f"{was_set} is set with jax_compilation_cache_max_size, which needs the package filelock; without it JAX "
            "warns once and uses no cache: pip install filelock, then restart the kernel"
        )
    elif state.use is FolderUse.IS_A_FILE:
        yield f"{was_set} is set, but it is a file; set a folder, then call {_RESET}"
    elif state.use is FolderUse.NOT_OPENED:
        yield (
            f"{was_set} is set, but JAX could not open it at its first compile, and does not try once more; make it a "
            f"folder that you can write to, then call {_RESET}"
        )
    if state.use in (FolderUse.IN_USE, FolderUse.EARLIER_FOLDER) and not state.is_enabled:
        yield (
            "jax_enable_compilation_cache is False, and JAX, which reads it at the first compile, uses the cache all "
            f"the same; {_RESET} makes it read it once more"
        )
    if state.folder and not state.is_remote and not state.is_there and state.use is not FolderUse.NOT_OPENED_YET:
        yield "The folder is gone, so nothing can be written; JAX does not make it a second time: create it"
    if state.is_readable is False:
        yield (
            "This kernel has no permission for the folder: no entry is read and none is written; give it permission "
            "(chmod u+rwx), or set another folder"
        )
    elif state.is_writable is False:
        yield "The folder is read-only for this kernel: entries are read, and none is written"
    elif state.free_bytes is not None and state.free_bytes < _LEAST_FREE:
        yield (
            f"The folder's file system is full ({scaled(state.free_bytes, 'B')} free): JAX leaves incomplete entries "
            "there, and every kernel compiles their programs again; make room, then "
            f"{setting_aside()}"
        )


def _contents(report: CacheReport) -> Iterator[str]:
    if report.problem:
        yield f"Its entries cannot be listed: {report.problem}"
    elif report.state.is_remote:
        yield "The folder is not on this machine, and its entries are not listed"
    elif report.state.is_there:
        limit = "" if report.state.max_size is None else f" of at most {scaled(report.state.max_size, 'B')}"
        entries = plural(len(report.entries), "entry", "entries")
        yield f"{entries}, {scaled(report.bytes, 'B')}{limit}{_eviction(report)}"
        yield from _versions(report)


def _eviction(report: CacheReport) -> str:
    if report.state.max_size is not None:
        return "; the least recently used are evicted"
    return "; nothing is ever evicted (jax_compilation_cache_max_size sets a limit)" if report.entries else ""


def _versions(report: CacheReport) -> Iterator[str]:
    others = [entry for entry in report.entries if entry.other_version]
    if others:
        versions = ", ".join(sorted({entry.other_version for entry in others}))
        yield (
            f"{plural(len(others), 'entry', 'entries')} ({_size(others)}) of another version ({versions}): this kernel "
            "cannot use them, and JAX does not remove them"
        )
    if any(entry.other_version in (persistent_cache.ZLIB, persistent_cache.ZSTANDARD) for entry in others):
        yield _PYTHONS
    unread = [
        entry
        for entry in report.entries
        if entry.record and entry.last_hit is None and not entry.other_version and not entry.was_hit_here
    ]
    if unread:
        yield f"{plural(len(unread), 'entry', 'entries')} ({_size(unread)}) never read since JAXStage recorded them"
    unknown = sum(entry.record is None for entry in report.entries)
    if unknown:
        yield f"{plural(unknown, 'entry', 'entries')} written without JAXStage: only name, size and date are known"
    if report.files.aside:
        yield (
            f"{plural(report.files.aside, 'damaged entry', 'damaged entries')} set aside "
            f"({scaled(report.files.aside_bytes, 'B')}), which can be deleted"
        )


def _size(entries: list[CacheEntry]) -> str:
    return scaled(sum(entry.bytes for entry in entries), "B")


def _wrong_entries(report: CacheReport) -> Iterator[str]:
    damaged = report.damaged
    if damaged:
        names = some([entry.key + persistent_cache.SUFFIX for entry in damaged], _NAMED)
        yield (
            f"{plural(len(damaged), 'damaged entry', 'damaged entries')}: {names}. JAX never repairs them; "
            f"{setting_aside()} renames them, and JAX compiles and writes their programs again"
        )
    if report.state.max_size is not None and (lacking := sum(entry.lacks_time for entry in report.entries)):
        yield (
            f"{plural(lacking, 'entry has', 'entries have')} no file with the time of the last use, because they were "
            "written without a size limit: JAX before 0.11 cannot evict anything then"
        )
    if unreadable := sum(entry.is_unreadable for entry in report.entries):
        yield (
            f"{plural(unreadable, 'entry', 'entries')} cannot be read by this kernel, which compiles their programs "
            "instead; give it permission (chmod u+r)"
        )
    if read_only := sum(entry.is_read_only and not entry.is_unreadable for entry in report.entries):
        yield f"{plural(read_only, 'entry is', 'entries are')} read-only for this kernel"


def _set_aside(report: CacheReport) -> Iterator[str]:
    if report.set_aside:
        yield f"Set aside: {', '.join(report.set_aside)}"


def _kernel(report: CacheReport) -> Iterator[str]:
    tally = report.tally
    if not report.is_watched:
        yield (
            "The compile log is off, so hits and misses are not counted and entries are not verified before JAX reads "
            f"them; {typed('%config JAXStage.compile_log = True', 'jaxstage_ext.compiles()')} turns it on"
        )
    rate = tally.hit_rate
    if rate is None:
        return
    asked = sum(count for outcome, count in tally.compiles.items() if outcome is not CacheOutcome.OFF)
    hits = tally.compiles[CacheOutcome.HIT]
    yield f"This kernel: {plural(hits, 'hit')} in {plural(asked, 'compile')} ({share(rate)}){_saved(report)}"
    for outcome, count in tally.compiles.most_common():
        if outcome not in (CacheOutcome.HIT, CacheOutcome.OFF):
            seconds = duration(tally.seconds.get(outcome, 0.0))
            yield f"{plural(count, 'miss', 'misses')}, {seconds} of compiling: {_ended(outcome, report)}"
    if report.never_hits:
        yield (
            "This is not process 0 of its job, which alone writes entries; and on CPUs the fingerprint of the devices, "
            "which is part of the key, is another in each process: this process never finds an entry"
        )


def _saved(report: CacheReport) -> str:
    tally = report.tally
    hits = tally.compiles[CacheOutcome.HIT]
    if not hits:
        return ""
    read = f"{duration(tally.read)} of reading"
    unknown = tally.hits_without_time
    if unknown == hits:
        return f", {read}; what they saved is unknown: JAX keeps compile times in whole seconds"
    more = f", and what {plural(unknown, 'more hit')} saved is unknown" if unknown else ""
    return f", {read} saved {duration(abs(tally.saved))} of compiling{more}" if tally.saved > 0 else f", {read}{more}"


def _ended(outcome: CacheOutcome, report: CacheReport) -> str:
    limits = report.limits
    words = {
        CacheOutcome.WRITTEN: "written",
        CacheOutcome.FASTER_THAN_LIMIT: "not written, faster than jax_persistent_cache_min_compile_time_secs "
        f"({_held(outcome, limits.seconds, report, _SECONDS)})",
        CacheOutcome.SMALLER_THAN_LIMIT: "not written, smaller than jax_persistent_cache_min_entry_size_bytes "
        f"({_held(outcome, limits.bytes, report, _BYTES)})",
        CacheOutcome.LARGER_THAN_LIMIT: "not written, larger than jax_compilation_cache_max_size",
        CacheOutcome.NOT_FIRST_PROCESS: "not written, since only process 0 writes",
        CacheOutcome.NOT_SERIALISABLE: "not written, since JAX cannot serialise them, as with Python callbacks before "
        "0.12",
        CacheOutcome.WRITE_FAILED: "writing failed",
        CacheOutcome.UNREADABLE: "the entry could not be read, and stays as it is",
        CacheOutcome.UNKNOWN: "unknown: the compile failed, or JAX checked the entry's contents",
    }
    return words[outcome]


def _held(outcome: CacheOutcome, now: float, report: CacheReport, written: str) -> str:
    """The limits that held at the misses, and the one now where it is another: `1 s then, 0 s now`."""
    then = sorted(report.tally.limits.get(outcome, ()))
    is_now = f"{written.format(now)} now"
    return is_now if then in ([], [now]) else f"{' or '.join(map(written.format, then))} then, {is_now}"


def _limits(report: CacheReport) -> Iterator[str]:
    if report.state.folder:
        yield (
            f"JAX writes programs that compile for {report.limits.seconds:g} s or longer"
            + (f" and entries of {scaled(report.limits.bytes, 'B')} or more" if report.limits.bytes > 0 else "")
            + ": jax_persistent_cache_min_compile_time_secs"
            + (", jax_persistent_cache_min_entry_size_bytes" if report.limits.bytes > 0 else "")
        )


def missed_words(missed: MissedEntry) -> list[str]:
    """How a key differs from the nearest entry, one sentence for each value; or why that is not known."""
    if missed.nearest is None:
        return [missed.reason]
    if not missed.differences:
        return ["its key does not differ from that of an earlier entry, which is gone"]
    return [_difference(each) for each in missed.differences if each.what != "text" or len(missed.differences) == 1]


def causes_words(causes: MissCauses) -> str:
    """`11 misses: 3 because xla_cpu_enable_fast_math changed, 8 first time`; "" where nothing missed."""
    if not causes.groups:
        return ""
    count = plural(causes.explained, "miss", "misses")
    newest = f"the newest {count} of {causes.total:,}" if causes.explained < causes.total else count
    return f"{newest}: " + ", ".join(f"{len(group.records):,} {_cause(group)}" for group in causes.groups)


def _cause(group: MissGroup) -> str:
    if group.cause is MissCause.DIFFERS:
        named = some(group.values, _NAMED, " and ")
        is_other = any(value.startswith(KeyPart.COMPUTATION.value) for value in group.values)
        differ = "differs" if len(group.values) == 1 else "differ"
        return f"because {named} {f'{differ} from the nearest entry of that name' if is_other else 'changed'}"
    return _CAUSES[group.cause]


def _difference(each: KeyDifference) -> str:
    if each.part is KeyPart.COMPUTATION:
        return _of_stablehlo(each)
    what = each.what if each.part in (KeyPart.FLAGS, KeyPart.OPTIONS) else each.part.value
    if not each.before and not each.now:
        return f"{what} differ"
    return f"{what}: was {each.before or 'not set'}, is {each.now or 'not set'}"


def _of_stablehlo(each: KeyDifference) -> str:
    if each.what == "text":
        if miss_causes.only_addresses_differ(each.diff):
            return "StableHLO: only an address in a custom call differs, which is another in every process"
        if constants := miss_causes.changed_constants(each.diff):
            return "StableHLO: " + ", ".join(f"a constant was {was}, is {now}" for was, now in constants[:_NAMED])
        changed = sum(line[:1] in ("+", "-") for line in each.diff)
        return f"StableHLO: {plural(changed, 'line')} differ" if changed else "StableHLO differs"
    return f"StableHLO {each.what}: was {each.before}, is {each.now}"
