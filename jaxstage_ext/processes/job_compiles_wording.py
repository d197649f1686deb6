"""The compiles of all processes of a job, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from jaxstage_ext.compilation.records.compile_record import CacheOutcome
from jaxstage_ext.compilation.records.record_outcome import cache_words
from jaxstage_ext.core.jax_private.cache_key_parts import KeyPart
from jaxstage_ext.processes.compile_row_form import CompileRowForm
from jaxstage_ext.processes.job_compiles import CacheUse, JobProgram, MergedCompiles, OrderDifference, ProgramName
from jaxstage_ext.processes.key_comparison import ComparedKeys, KeyDifferenceBetween
from jaxstage_ext.report.text.process_names import process_names
from jaxstage_ext.report.text.shortened import some
from jaxstage_ext.report.text.units import duration, plural

OTHER_CLOCK = "the processes are on several hosts, whose clocks are not compared"
NO_RECORD, STILL_RUNS = "a process has no record of it", "a process still compiles it"
NO_LOG = "not all processes gave their log"
NOT_RUN = "this stage did not run"
NOT_ENDED = "this stage has not ended, or did not run"
NOT_COMPARED = "not compared: only the first programs with differing keys are"
SAVED = "why it was compiled is not saved; run the cell again to ask the process"
NOTHING = "No process has compiled anything."
_NAMED, _LONGEST_VALUE, _LONGEST_NAME = 3, 80, 120
_ON_CPU = (
    "On CPUs each process describes its devices by a topology of its own, which is part of the key. Only process 0 "
    "writes entries, so other processes never find one."
)


def program(name: ProgramName) -> str:
    """`step(f32[8,4])`."""
    text = f"{name[0]}({name[1]})"
    return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 1]}…"


def headline(merged: MergedCompiles) -> str:
    """How many programs the processes compiled together, and what that took."""
    if not any(log["rows"] for log in merged.logs):
        return NOTHING
    own = sum(len(row["processes"]) == 1 and not row["is_eager"] for log in merged.logs for row in log["rows"])
    slowest = sum(max(one.seconds.values()) for one in merged.programs)
    shared = plural(len(merged.programs), "program")
    spent = f", {duration(slowest)} in the slowest process of each" if merged.programs else ""
    more = f"; {plural(own, 'program')} of one process alone" if own else ""
    of_all = f"{len(merged.logs):,} of " if merged.missing else ""
    count = plural(len(merged.logs) + len(merged.missing), "process", "processes")
    return f"{of_all}{count}: {shared} of several processes{spent}{more}"


def sentences(merged: MergedCompiles) -> Iterator[str]:
    """What else is to be said of all processes, the most important first."""
    for process, why in merged.missing.items():
        yield no_log(process, why)
    if (difference := merged.order_difference) is not None:
        yield order(difference)
    yield from stopped(merged)
    for one in [one for one in merged.programs if {*one.absent} - {*merged.missing}][:_NAMED]:
        yield absent(one, merged)
    if merged.programs:
        yield waiting(merged)
    yield clock(merged)
    if left_out := sum(log["left_out"] for log in merged.logs):
        yield f"{plural(left_out, 'older record')} left the logs."


def order(difference: OrderDifference) -> str:
    """Where the order differs, and what that does."""
    each = " and ".join(f"{process_names(who)} compiled {program(name)}" for name, who in difference.compiled.items())
    return (
        f"The order differs: as program {difference.place} of those in common, {each}. Programs that exchange data "
        "must be called in one order, or the job hangs or computes wrong values."
    )


def stopped(merged: MergedCompiles) -> Iterator[str]:
    """What the guard stopped; nothing where it stopped nothing."""
    if found := merged.stopped:
        names = some([f"{program(name)} in {process_names(who)}" for name, who in found.items()], _NAMED)
        yield f"The guard stopped {names}: never compiled, never run."


def absent(one: JobProgram, merged: MergedCompiles) -> str:
    """Which processes have no record of a program."""
    late = [log["process"] for log in merged.logs if log["process"] in one.absent and not log["was_on"]]
    why = f"; the log of {process_names(late)} is kept only since it was asked for" if late else ""
    lacks = f"no record of it in {process_names(one.absent)}{why}"
    return f"{program(one.name)} runs on {process_names(one.spans)}, with {lacks}."


def waiting(merged: MergedCompiles) -> str:
    """How long processes waited for the slowest, in all."""
    if not merged.shares_clock:
        return f"How long processes waited for the slowest is unknown: {OTHER_CLOCK}."
    known = [(waited, one) for one in merged.programs if (waited := merged.waited(one)) is not None]
    if not known and merged.missing:
        return f"How long processes waited for the slowest is unknown: {NO_LOG}."
    if not known:
        return "How long processes waited for the slowest is unknown: no program was compiled by all of its processes."
    longest, worst = max(known, key=lambda pair: pair[0])
    arrivals = worst.arrivals
    last = max(arrivals, key=lambda process: arrivals[process])
    total = sum(waited for waited, _ in known)
    return (
        f"Waiting for the slowest took at most {duration(total)} in all; the longest was {duration(longest)} for "
        f"process {last} at {program(worst.name)}."
    )


def no_log(process: int, why: str) -> str:
    """Why a process is left out."""
    return f"No log of process {process}: {why}."


def no_process(process: int) -> str:
    """The process that is asked is none of the job."""
    return f"the job has no process {process} any more"


def untold(process: int, why: str) -> str:
    """A process does not say why it compiled."""
    return f"process {process} does not say: {why}"


def dropped(process: int, number: int) -> str:
    """A process's log does not have a record any more."""
    return f"the log of process {process} no longer has #{number}"


def clock(merged: MergedCompiles) -> str:
    """By which clock the times are."""
    if merged.shares_clock:
        return f"All times are by the clock of {merged.hosts[0]}." if merged.hosts else ""
    hosts = some([*merged.hosts], _NAMED)
    return f"Times are by the clock of each process's host ({hosts}); how far these differ is unknown."


def cache_use(use: CacheUse) -> str:
    """`process 0: 3 hits, 2 misses, written`."""
    if not use.asked:
        return f"process {use.process}: not in use"
    parts = [_counted(outcome, count) for outcome, count in use.outcomes.items() if outcome is not CacheOutcome.OFF]
    return f"process {use.process}: {', '.join(parts)}"


def _counted(outcome: CacheOutcome, count: int) -> str:
    if outcome is CacheOutcome.HIT:
        return plural(count, "hit")
    words = cache_words(outcome)
    return f"{plural(count, 'miss', 'misses')} ({words.partition(', ')[2] or words})"


def keys(name: ProgramName, compared: ComparedKeys, platform: str) -> str:
    """In what the keys of a program differ, and why that is so on CPUs."""
    differing = ", ".join(map(_difference, compared.differences))
    unknown = [f"that of process {process} is unknown: {why}" for process, why in compared.unknown.items()]
    what = f" in {differing}" if differing else "" if unknown else "; in what is unknown"
    on_cpu = platform == "cpu" and any(one.is_fingerprint for one in compared.differences)
    text = f"The cache key of {program(name)} differs between processes{'; '.join([what, *unknown])}."
    return f"{text} {_ON_CPU}" if on_cpu else text


def _difference(one: KeyDifferenceBetween) -> str:
    if one.is_fingerprint:
        return "the fingerprint of the devices"
    what = one.what or one.part.value
    if one.part is KeyPart.COMPUTATION or not any(one.values.values()):
        return what
    each = "; ".join(f"process {process}: {_cut(value) or 'none'}" for process, value in one.values.items())
    return f"{what} ({each})"


def _cut(value: str) -> str:
    value = " ".join(value.split())
    return value if len(value) <= _LONGEST_VALUE else f"{value[: _LONGEST_VALUE - 1]}…"


def caches(one: JobProgram) -> str:
    """What the persistent cache did for a program: processes with the same words together."""
    said: dict[str, list[int]] = {}
    for process, row in sorted(one.rows.items()):
        said.setdefault(row["cache_words"] or "not in use", []).append(process)
    if len(said) == 1:
        return next(iter(said))
    return "; ".join(f"{process_names(processes)}: {words}" for words, processes in said.items())


def of_caches(row: CompileRowForm) -> str:
    """The caches that spared a record a stage, and what the persistent one did."""
    is_served = row["cache"] in ("", CacheOutcome.HIT.name, CacheOutcome.OFF.name)
    return "; ".join([*row["served_by"], *([] if is_served else [f"persistent cache: {row['cache_words']}"])])


def differing_parts(compared: ComparedKeys | None, has_other_keys: bool) -> str | None:
    """The parts in which the keys differ, in a cell; "" where the keys are the same, None where that is unknown."""
    if not has_other_keys:
        return ""
    if compared is None or not compared.differences:
        return None
    return ", ".join(dict.fromkeys(one.what or one.part.value for one in compared.differences))


def missing_key(compared: ComparedKeys | None) -> str:
    """Why the parts of the key are unknown."""
    unknown: Mapping[int, str] = {} if compared is None else compared.unknown
    return "; ".join(f"process {process}: {why}" for process, why in unknown.items()) or NOT_COMPARED
