"""Saved calls within a number of bytes: documents lose their last lines, then go altogether, then replies go.

How much of each document can fit is estimated from the length of its lines, before anything is compressed.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from jaxstage_ext.panel.saving.saved_call import SavedCall, SavedReplies
from jaxstage_ext.report.document import Document
from jaxstage_ext.report.saved.first_lines import (
    first_lines,
    has_long_lines,
    remark,
    sizes,
    with_used_frames,
    without_long_lines,
)
from jaxstage_ext.report.saved.saved_form import Part

_USUAL_RATIO = 4.5
"""Characters of documents that one byte of the saved form holds, at a first guess."""
_FEWEST = 40
"""Lines of a document that are worth keeping where not all of it fits."""
_ATTEMPTS = 5
_GZIP = 16 + zlib.MAX_WBITS
"""Of zlib: a gzip file without a time."""
_NO_TABS = "its tabs other than the code are not in the saved notebook"
_NOT_HELD = "is not in the saved notebook"


@dataclass(frozen=True)
class BoundedReports:
    """Saved reports as base64 of compressed JSON, and a sentence for each thing that was left out."""

    data: str
    left_out: tuple[str, ...] = ()


Counts = Mapping[tuple[int, str, str], int]
"""How many lines are kept, by call, target and kind of document."""


def bounded(calls: Sequence[SavedCall], most: int) -> BoundedReports | None:
    """The reports in at most `most` bytes, with as much of documents and replies as fits; None where nothing does."""
    lengths = {
        (at, target, kind): sizes(document)
        for at, call in enumerate(calls)
        for target, (_, _, documents) in call.parts.items()
        for kind, document in documents.items()
    }
    room = float(min(sum(int(total[-1]) for total in lengths.values()), most * _USUAL_RATIO))
    for attempt in range(_ATTEMPTS + 1):
        made = _packed(_cut(calls, _counts(lengths, room if attempt < _ATTEMPTS else 0)), calls)
        if len(made.data) <= most:
            return made
        room *= min(0.9 * most / len(made.data), 0.7)
    made = _packed([_without_replies(call) for call in _cut(calls, _counts(lengths, 0))], calls)
    return made if len(made.data) <= most else None


def _counts(lengths: Mapping[tuple[int, str, str], Any], room: float) -> Counts:
    """The lines of each document, all of which share the room: the small ones whole, the others equally."""
    waiting, counts = sorted(lengths.items(), key=lambda item: int(item[1][-1])), {}
    for at, (place, total) in enumerate(waiting):
        share = room / (len(waiting) - at)
        counts[place] = _count(total, share)
        room -= min(share, float(total[-1]))
    return counts


def _count(total: Any, share: float) -> int:
    """The lines that fit in so many characters: all, a round number, or none."""
    if total[-1] <= share:
        return len(total)
    fitting = int(np.searchsorted(total, share, side="right"))
    unit = 10 ** max(len(str(fitting)) - 2, 0)
    return fitting // unit * unit if fitting >= _FEWEST else 0


def _cut(calls: Sequence[SavedCall], counts: Counts) -> list[SavedCall]:
    """The calls with so many lines of each document, and the call stacks of these lines."""
    return [
        replace(call, parts={target: _cut_part(part, (at, target), counts) for target, part in call.parts.items()})
        for at, call in enumerate(calls)
    ]


def _cut_part(part: Part, place: tuple[int, str], counts: Counts) -> Part:
    head, frames, documents = part
    kept = {kind: counts[*place, kind] for kind in documents}
    if all(kept[kind] == len(document) and not has_long_lines(document) for kind, document in documents.items()):
        return part
    cut = {kind: _cut_document(document, kept[kind]) for kind, document in documents.items() if kept[kind]}
    return _described(head, documents, cut, kept), *with_used_frames(frames, cut)


def _cut_document(document: Document, count: int) -> Document:
    return without_long_lines(document) if count == len(document) else first_lines(document, count)


def _described(
    head: Mapping[str, Any],
    documents: Mapping[str, Document],
    cut: Mapping[str, Document],
    kept: Mapping[str, int],
) -> dict[str, Any]:
    """The summary, which says what of the documents is there."""
    titled = [about for about in head["documents"] if about["kind"] not in documents or about["kind"] in cut]
    sized = [{**about, "lines": len(cut[about["kind"]])} if about["kind"] in cut else about for about in titled]
    titles = {about["kind"]: about["title"] for about in head["documents"]}
    notes = [
        f"{titles.get(kind, kind)}: {remark(kept[kind], len(document)) if kind in cut else _NOT_HELD}"
        for kind, document in documents.items()
        if kind not in cut or kept[kind] < len(document)
    ]
    return {**head, "documents": sized, "notes": [*head["notes"], *notes]}


def _without_replies(call: SavedCall) -> SavedCall:
    if not _has_replies(call):
        return call
    parts = {
        name: ({**head, "notes": [*head["notes"], _NO_TABS]}, frames, documents)
        for name, (head, frames, documents) in call.parts.items()
    }
    return replace(call, parts=parts, replies=dict.fromkeys(call.replies, SavedReplies()))


def _packed(calls: Sequence[SavedCall], whole: Sequence[SavedCall]) -> BoundedReports:
    text = json.dumps([call.report() for call in calls], separators=(",", ":"))
    # without replies it is mostly base64, in which nothing repeats: coding its letters gives the same size in a tenth
    # of the time
    strategy = zlib.Z_DEFAULT_STRATEGY if any(map(_has_replies, calls)) else zlib.Z_HUFFMAN_ONLY
    stream = zlib.compressobj(1, zlib.DEFLATED, _GZIP, strategy=strategy)
    data = base64.b64encode(stream.compress(text.encode("ascii")) + stream.flush()).decode("ascii")
    return BoundedReports(data, tuple(_left_out(calls, whole)))


def _has_replies(call: SavedCall) -> bool:
    return any(held.replies for held in call.replies.values())


def _left_out(calls: Sequence[SavedCall], whole: Sequence[SavedCall]) -> Iterator[str]:
    """The notes that were added, each with the call that it is about."""
    for cut, call in zip(calls, whole, strict=True):
        for name, (head, _, _) in cut.parts.items():
            before = len(call.parts[name][0]["notes"])
            yield from (f"{head['name']}: {note}" for note in head["notes"][before:])
