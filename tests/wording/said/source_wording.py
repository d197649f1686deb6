"""Source files that are no longer those that were traced."""

from jaxstage_ext.ir.sources import source_wording
from jaxstage_ext.ir.sources.source_texts import SourceState

SAID = {
    **{f"title, {state.name}": source_wording.title("model.py", state) for state in SourceState},
    "title with a remark": source_wording.title("model.py", SourceState.CHANGED, "another remark"),
    **{f"note, {state.name}": source_wording.note("model.py", state) for state in SourceState},
}
