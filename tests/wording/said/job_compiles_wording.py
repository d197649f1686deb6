"""What the processes of a job have compiled together."""

from job_logs import key_form, log_row, process_log
from wordings import constants

from jaxstage_ext.compilation.records.compile_record import CacheOutcome
from jaxstage_ext.compilation.records.record_outcome import RecordOutcome
from jaxstage_ext.processes import job_compiles_wording as wording
from jaxstage_ext.processes.job_compiles import CacheUse, MergedCompiles
from jaxstage_ext.processes.key_comparison import compared_keys

STEP = ("step", "f32[8]")
FIRST = [log_row("step", 0), log_row("evaluate", 2), log_row("own", 4, processes=[0]), log_row("one", 5, processes=[0])]
SAME = MergedCompiles((process_log(0, FIRST), process_log(1, [log_row("step", 0.5), log_row("evaluate", 3)])))
TURNED = MergedCompiles((process_log(0, FIRST), process_log(1, [log_row("evaluate", 0), log_row("step", 3)])))
LATE = MergedCompiles((process_log(0, FIRST), process_log(1, [], was_on=False)))
APART = MergedCompiles((process_log(0, FIRST), process_log(1, [log_row("step", 1)], host="there", left_out=3)))
LOST = MergedCompiles((process_log(0, FIRST),), {1: "it has ended"})
STOPPED = MergedCompiles(
    tuple(process_log(at, [log_row("step", 0, outcome=RecordOutcome.STOPPED.value, compile=None)]) for at in (0, 1))
)
RUNNING = MergedCompiles(tuple(process_log(at, [log_row("step", 0, ended=None)]) for at in (0, 1)))
OPTIONS = {"parts": {"OPTIONS": "x", "COMPUTATION": "y", "FLAGS": "z"}, "options": {"one": "2"}, "words": {}}


def keys(*forms: object, platform: str = "cpu") -> str:
    return wording.keys(STEP, compared_keys(dict(enumerate(forms))), platform)  # type: ignore[arg-type]


SAID = {
    **constants(wording),
    "nothing": wording.headline(MergedCompiles((process_log(0, []), process_log(1, [])))),
    "two programs, and two of one process": wording.headline(SAME),
    "the same order": list(wording.sentences(SAME)),
    "another order": list(wording.sentences(TURNED)),
    "a process without a record": list(wording.sentences(LATE)),
    "several hosts, and older records": list(wording.sentences(APART)),
    "one of two processes": wording.headline(LOST),
    "compiled by none": list(wording.sentences(RUNNING)),
    "why: no such process": wording.no_process(3),
    "why: no answer": wording.untold(1, "no answer within 5 s; the process is idle"),
    "why: dropped": wording.dropped(1, 4),
    "stopped by the guard": list(wording.sentences(STOPPED)),
    "no log": list(wording.sentences(LOST)),
    "cache: not in use": wording.cache_use(CacheUse(1, "", {CacheOutcome.OFF: 3})),
    "cache: hits and misses": wording.cache_use(
        CacheUse(1, "cache", {CacheOutcome.HIT: 1, CacheOutcome.WRITTEN: 2, CacheOutcome.NOT_FIRST_PROCESS: 1})
    ),
    "cache: of a program": wording.caches(SAME.programs[0]),
    "caches of a record: none": wording.of_caches(log_row("step", 0)),
    "caches of a record: a hit": wording.of_caches(
        log_row("step", 0, served_by=["trace cache", "persistent cache"], cache="HIT", cache_words="hit")
    ),
    "caches of a record: a miss": wording.of_caches(log_row("step", 0, cache="WRITTEN", cache_words="miss, written")),
    "keys: the fingerprint of the devices": keys(key_form("a"), key_form("b")),
    "keys: not on CPUs": keys(key_form("a"), key_form("b"), platform="gpu"),
    "keys: options and more": keys(key_form(), key_form(**OPTIONS)),
    "keys: one is unknown": keys(key_form(), key_form(reason="the program is no longer kept")),
    "keys: in what is unknown": keys(),
    "keys: why unknown": wording.missing_key(compared_keys({1: key_form(reason="the program is no longer kept")})),
    "keys: not compared": wording.missing_key(None),
}
