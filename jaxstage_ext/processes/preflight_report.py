"""The report of a pre-flight that stopped a job: one text file, and what each process's error says of it."""

from __future__ import annotations

import contextlib
import itertools
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from jaxstage_ext.processes import preflight_wording as wording
from jaxstage_ext.processes.disagreement import ChangedLine, Disagreement, LineChange, StageDifference
from jaxstage_ext.report.text.process_names import process_names
from jaxstage_ext.report.text.shortened import shortened

_LONGEST_LINE = 240
_MOST_SHOWN = 12
"""Lines of a difference that an error shows; the report has all."""


def report_text(found: Disagreement) -> str:
    """The whole report."""
    return (
        "\n".join([*_head(found), "", *_processes(found), *_groups(found), *_fields(found), *_differences(found)])
        + "\n"
    )


def error_text(found: Disagreement, where: str) -> str:
    """What each process's error says: the headline, the report's place, and the lines that differ most."""
    lines = [wording.headline(found), *_evidence(found), *_absent(found), *list(_fields(found))[:_MOST_SHOWN]]
    if found.differences and not found.fields:
        changed = [line for line in found.differences[0].lines if line.change in (LineChange.REMOVED, LineChange.ADDED)]
        lines += map(_line, changed[:_MOST_SHOWN])
    return "\n".join([*lines, f"→ {wording.next_step(found)}", f"report: {where}"])


def said(found: Disagreement) -> list[str]:
    """Who differs and why, then in lines what shows it: the user's code, and the fields that differ."""
    return [wording.headline(found), *_evidence(found), *list(_fields(found))[:_MOST_SHOWN]]


def differing_lines(found: Disagreement) -> list[str]:
    """The lines in which the stages differ, with those around them."""
    return list(_differences(found))


def _head(found: Disagreement) -> Iterator[str]:
    yield wording.headline(found)
    yield from _evidence(found)
    yield f"→ {wording.next_step(found)}"


def _evidence(found: Disagreement) -> list[str]:
    """The lines that say why."""
    code = f"  {found.place}: {found.place.code}" if found.place is not None and found.place.code else ""
    suspect, collectives = wording.suspect_line(found), wording.collectives(found)
    said = (suspect, wording.call_line(found), collectives)
    return [line for line in (code, *(f"  {one}" for one in said if one)) if line]


def _processes(found: Disagreement) -> Iterator[str]:
    for process, arrival in found.arrivals.items():
        place = f" at {arrival.place}" if arrival.place else ""
        earlier = ", ".join(found.earlier.get(process, ()))
        after = f"; before it: {shortened(earlier, _LONGEST_LINE)}" if earlier else ""
        yield f"process {process} on {arrival.host}: {arrival.program}{place}{after}"
    yield from _absent(found)


def _absent(found: Disagreement) -> Iterator[str]:
    """What is known of the processes that did not arrive."""
    for process in found.absent:
        if (end := found.ends.get(process)) is not None:
            yield wording.ended(end)
        else:
            yield wording.not_arrived(process, found.agreed)


def _groups(found: Disagreement) -> Iterator[str]:
    if found.groups:
        yield ""
    for part, groups in found.groups.items():
        agreed = " | ".join(process_names(group, len(group)) for group in groups)
        yield f"{wording.PARTS[part]}: {'the same in ' if len(groups) == 1 else ''}{agreed}"


def _fields(found: Disagreement) -> Iterator[str]:
    for name, texts in found.fields.items():
        yield f"{name}:"
        yield from (f"  process {process}: {shortened(text, _LONGEST_LINE)}" for process, text in texts.items())


def _differences(found: Disagreement) -> Iterator[str]:
    for difference in found.differences:
        yield ""
        yield from _difference(difference)


def _difference(difference: StageDifference) -> Iterator[str]:
    yield f"{wording.PARTS[difference.part]}: - process {difference.before}, + process {difference.after}"
    yield from map(_line, difference.lines)


def _line(line: ChangedLine) -> str:
    if line.change is LineChange.SKIPPED:
        return f"  … {line.text} lines alike"
    place = f"   # {line.place}" if line.place is not None else ""
    return f"{line.change.value} {shortened(line.text.rstrip(), _LONGEST_LINE)}{place}"


def write_report(text: str, folder: Path) -> str:
    """Write a report into a folder, or the system's own where that cannot be written to; its path, "" where nowhere.

    Reports have names of their own; none is overwritten.
    """
    stem = f"jaxstage-preflight-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
    for place in (folder, Path(tempfile.gettempdir())):
        with contextlib.suppress(OSError):
            place.mkdir(parents=True, exist_ok=True)
            return str(_new_file(place.resolve(), stem, text))
    return ""


def _new_file(folder: Path, stem: str, text: str) -> Path:
    for number in itertools.count(1):
        path = folder / (f"{stem}-{number}.txt" if number > 1 else f"{stem}.txt")
        with contextlib.suppress(FileExistsError), path.open("x", encoding="utf-8") as file:
            file.write(text)
            return path
    raise AssertionError("count() has no end")
