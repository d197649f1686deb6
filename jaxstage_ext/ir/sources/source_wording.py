"""What is said of a source file that is no longer the one that was traced."""

from __future__ import annotations

from jaxstage_ext.ir.sources.source_texts import SourceState

_TITLES = {
    SourceState.CHANGED: "changed since the trace; this is the text that JAX traced",
    SourceState.DELETED: "deleted since the trace; this is the text that JAX traced",
    SourceState.MOVED: "JAX traced this code from other lines; links are moved with it",
    SourceState.OTHER_CODE: "JAX traced another version of this file: lines may have moved",
    SourceState.UNAVAILABLE: "source not available",
}
_NOTES = {
    SourceState.CHANGED: (
        "{} has changed since the trace: all that is shown, its source too, is the version that JAX traced."
    ),
    SourceState.DELETED: "{} has been deleted since the trace: its source is shown as JAX traced it.",
    SourceState.OTHER_CODE: (
        "{} is not the version that JAX traced, whose text was not kept: in its source, lines may have moved. Reload "
        "the module and inspect it again."
    ),
}


def title(label: str, state: SourceState, remark: str = "") -> str:
    """The line above a file's source: `# model.py (changed since the trace; ...)`."""
    said = "; ".join(filter(None, [_TITLES.get(state), remark]))
    return f"# {label} ({said})" if said else f"# {label}"


def note(label: str, state: SourceState) -> str | None:
    """What a reader has to know of a file's source before trusting it; None where it is the file as it is."""
    return _NOTES[state].format(label) if state in _NOTES else None
