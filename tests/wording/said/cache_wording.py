"""JAX's persistent cache."""

from collections import Counter

from cache_facts import entry, report, state, tally

from jaxstage_ext.compilation.persistent import cache_wording as wording
from jaxstage_ext.compilation.persistent.folder_state import FolderUse
from jaxstage_ext.compilation.persistent.key_differences import KeyDifference
from jaxstage_ext.compilation.persistent.miss_causes import MissCause, MissCauses, MissGroup
from jaxstage_ext.compilation.persistent.missed_entry import MissedEntry
from jaxstage_ext.compilation.persistent.process_tally import CacheTally
from jaxstage_ext.compilation.records.compile_record import CacheOutcome
from jaxstage_ext.core.jax_private.cache_key_parts import KeyPart
from jaxstage_ext.core.jax_private.persistent_cache import WriteLimits

LIMITS = WriteLimits(0.5, 4096)
HIT = CacheOutcome.HIT
LIMITED = state(max_size=10_000_000)
NEAREST: object = object()


def missed(*differences: KeyDifference) -> list[str]:
    return wording.missed_words(MissedEntry(NEAREST, differences))  # type: ignore[arg-type]


def group(cause: MissCause, *values: str) -> str:
    return wording.causes_words(MissCauses((MissGroup(cause, values, (1, 2)),), 2))


SAID = {
    **{f"headline: {use.name}": wording.headline(report(state(use))) for use in FolderUse},
    **{f"sentences: {use.name}": wording.sentences(report(state(use))) for use in FolderUse},
    **{f"warnings: {use.name}": wording.warnings(report(state(use))) for use in FolderUse},
    "warnings: EARLIER_FOLDER, none is set": wording.warnings(report(state(FolderUse.EARLIER_FOLDER, set_folder=""))),
    "warnings: the folder is gone": wording.warnings(report(state(is_there=False))),
    "warnings: read-only": wording.warnings(report(state(is_writable=False))),
    "warnings: disabled too late": wording.warnings(report(state(is_enabled=False))),
    "warnings: no keys": wording.warnings(report(state(FolderUse.NOT_OPENED_YET), tally=CacheTally(without_key=2))),
    "sentences: no keys": wording.sentences(report(state(FolderUse.NOT_OPENED_YET), tally=CacheTally(without_key=2))),
    "warnings: no permission": wording.warnings(report(state(is_readable=False, is_writable=False))),
    "warnings: two unreadable entries": wording.warnings(
        report(state(), *[entry(is_unreadable=True, is_read_only=True)] * 2)
    ),
    "warnings: full": wording.warnings(report(state(free_bytes=1000))),
    "warnings: one damaged entry": wording.warnings(report(state(), entry(is_torn=True))),
    "warnings: five damaged entries": wording.warnings(report(state(), *[entry(is_torn=True)] * 5)),
    "warnings: an entry without its time": wording.warnings(report(LIMITED, entry(lacks_time=True))),
    "warnings: two entries without their times": wording.warnings(report(LIMITED, *[entry(lacks_time=True)] * 2)),
    "warnings: two read-only entries": wording.warnings(report(state(), *[entry(is_read_only=True)] * 2)),
    "entries: none can be listed": wording.sentences(report(problem="Permission denied")),
    "entries: in another place": wording.sentences(report(state(is_remote=True, folder="gs://jax"))),
    "entries: one, of at most 10 MB": wording.sentences(report(LIMITED, entry())),
    "entries: of other versions": wording.sentences(
        report(state(), entry(other_version="0.9.1"), entry(other_version="zlib"))
    ),
    "entries: never read": wording.sentences(report(state(), entry(last_hit=None, was_hit_here=False))),
    "entries: not recorded": wording.sentences(report(state(), entry(record=None))),
    "entries: set aside": wording.sentences(report(aside=1, set_aside=("jit_step-0.damaged",))),
    "kernel: not watched": wording.sentences(report(is_watched=False)),
    "kernel: hits": wording.sentences(report(tally=tally(HIT, read=0.1, saved=3.0))),
    "kernel: hits, what some saved is unknown": wording.sentences(
        report(tally=tally(HIT, 3, read=0.1, saved=3.0, hits_without_time=1))
    ),
    "kernel: hits that saved nothing": wording.sentences(report(tally=tally(HIT, read=0.1, saved=-1.0))),
    "kernel: hits, unknown": wording.sentences(report(tally=tally(HIT, read=0.1, hits_without_time=2))),
    **{
        f"kernel: {outcome.name}": wording.sentences(report(tally=tally(outcome)))
        for outcome in CacheOutcome
        if outcome not in (HIT, CacheOutcome.OFF)
    },
    "kernel: not process 0": wording.sentences(report(tally=tally(CacheOutcome.NOT_FIRST_PROCESS), never_hits=True)),
    "limits: of seconds and bytes": wording.sentences(report(limits=LIMITS)),
    "limits: others held then": wording.sentences(
        report(
            limits=LIMITS,
            tally=tally(
                CacheOutcome.FASTER_THAN_LIMIT, limits={CacheOutcome.FASTER_THAN_LIMIT: Counter({1.0: 1, 2.0: 1})}
            ),
        )
    ),
    "missed: why is unknown": wording.missed_words(MissedEntry(reason="no folder was in use")),
    "missed: its entry is gone": missed(),
    **{f"missed: {part.name}": missed(KeyDifference(part, "xla_flag", "1", "2")) for part in KeyPart},
    "missed: a flag that was not set": missed(KeyDifference(KeyPart.FLAGS, "xla_flag", "", "2")),
    "missed: a flag that is not set": missed(KeyDifference(KeyPart.FLAGS, "xla_flag", "1", "")),
    "missed: a hook": missed(KeyDifference(KeyPart.HOOK, "")),
    "missed: text": missed(KeyDifference(KeyPart.COMPUTATION, "text", diff=("+a", "-b", " c"))),
    "missed: a constant": missed(KeyDifference(KeyPart.COMPUTATION, "text", diff=("-a dense<1.0>", "+a dense<2.0>"))),
    "missed: an address": missed(
        KeyDifference(
            KeyPart.COMPUTATION, "text", diff=("-custom_call 140245012345678", "+custom_call 139876543210123")
        )
    ),
    "missed: text, no line": missed(KeyDifference(KeyPart.COMPUTATION, "text")),
    "causes: none": wording.causes_words(MissCauses()),
    **{f"causes: {cause.name}": group(cause, "xla_flag") for cause in MissCause},
    "causes: DIFFERS, five values": group(MissCause.DIFFERS, *"abcde"),
    "causes: DIFFERS, the program": group(MissCause.DIFFERS, "StableHLO"),
    "causes: DIFFERS, the program and a flag": group(MissCause.DIFFERS, "StableHLO", "xla_flag"),
    "causes: the newest of many": wording.causes_words(
        MissCauses((MissGroup(MissCause.NO_EARLIER_ENTRY, (), (1, 2)),), 1200)
    ),
}
