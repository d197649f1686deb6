"""What to do so that the persistent cache is used."""

from cache_facts import report, state, tally

from jaxstage_ext.compilation.persistent.cache_advice import SET_FOLDER, WRITE_ALL, advice
from jaxstage_ext.compilation.persistent.folder_state import FolderUse
from jaxstage_ext.compilation.records.compile_record import CacheOutcome

FAST = CacheOutcome.FASTER_THAN_LIMIT
SAID = {
    "set a folder": SET_FOLDER,
    "write all": WRITE_ALL,
    "no folder": [each.sentence for each in advice(report(state(FolderUse.NOT_SET)))],
    "one fast compile": [each.sentence for each in advice(report(tally=tally(FAST, 1)))],
    "two fast compiles": [each.sentence for each in advice(report(tally=tally(FAST)))],
    "nothing": [each.sentence for each in advice(report())],
}
