"""Saved reports, read. Someone else may have written them: what is returned is as our own programs would have it.

Every text and column has its form, columns of a table have one length, and references point at something.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypedDict

import numpy as np

from jaxstage_ext.report.document import GRADIENT, INFERRED, LEFT_OUT, OP, Document
from jaxstage_ext.report.document_kinds import KINDS
from jaxstage_ext.report.frames import Frames, Ints, SourceFile, TextInEditor
from jaxstage_ext.report.saved import saved_form
from jaxstage_ext.report.saved.format_version import REPORT_VERSION
from jaxstage_ext.report.saved.json_form import BadForm, checked, quoted, read
from jaxstage_ext.report.saved.packed_columns import Budget, PackedColumn, decompressed, unpacked

_MOST_TARGETS, _MOST_CONTAINERS = 256, 4_000_000
_MOST_CELLS, _LONGEST_ID = 16, 200
_OPTIONAL, _OWN_LINES = ("origin", "file", "number"), ("file", "number")
"""Columns of documents: those not every one has, and those that source code alone has."""


class _FramesForm(TypedDict):
    files: list[list[Any]]
    functions: list[str]
    columns: dict[str, PackedColumn]


class _PackedText(TypedDict):
    encoding: str
    data: str


class _DocumentForm(TypedDict):
    text: str | _PackedText
    scopes: list[str]
    columns: dict[str, PackedColumn]


class _PartForm(TypedDict):
    summary: dict[str, Any]
    frames: _FramesForm
    documents: dict[str, _DocumentForm]


class SavedReport(NamedTuple):
    """The targets by name, the one that was saved, and the table of all; neither summaries nor table are checked."""

    parts: dict[str, saved_form.Part]
    target: str
    compare: dict[str, Any]


def loads(text: str) -> SavedReport:
    """What `saved_form.dumps` wrote. Raises BadForm, a ValueError of one line, for anything else.

    A file of format 1 holds one target and no table. The data of an offline page is read where it has a single report.
    """
    data = _report(text)
    try:
        return _read_report(data)
    except BadForm as error:
        raise BadForm(f"the saved inspection is damaged: {error}; save it again") from None


def _report(text: str) -> dict[str, Any]:
    """The report, of a version that is known."""
    try:
        data = _only_report(read(text, _MOST_CONTAINERS))
    except BadForm as error:
        raise BadForm(f"not an inspection saved by JAXStage: {error}") from None
    except (TypeError, ValueError):
        raise BadForm(f"not an inspection saved by JAXStage: {quoted(text)}") from None
    if not isinstance(data, dict) or "jaxstage" not in data:
        raise BadForm(f"not an inspection saved by JAXStage: {quoted(text)}")
    version = data["jaxstage"]
    if isinstance(version, bool) or not isinstance(version, int) or not 1 <= version <= REPORT_VERSION:
        reads = f"this JAXStage reads {REPORT_VERSION}; save it again"
        raise BadForm(f"the inspection has format {quoted(version)}, {reads}")
    return data


def _only_report(data: Any) -> Any:
    if isinstance(data, list) and len(data) > 1:
        raise BadForm(f"the page holds {len(data)} inspections; open them one by one")
    return data[0] if isinstance(data, list) and data else data


def _read_report(data: dict[str, Any]) -> SavedReport:
    own = checked(data.get("target", "local"), str, "target")
    others = checked(data.get("others") or {}, dict[str, Any], "others")
    order = checked(data.get("order") or [own], list[str], "order")
    if sorted(order) != sorted([own, *others]):
        raise BadForm("its order does not name each of its targets once")
    if len(order) > _MOST_TARGETS:
        raise BadForm(f"it holds {len(order):,} targets, more than {_MOST_TARGETS}")
    budget = Budget(saved_form.LARGEST, saved_form.MOST_LINES, saved_form.MOST_FRAMES)
    parts = {name: _part(data if name == own else others[name], f"target {quoted(name)}", budget) for name in order}
    return SavedReport(parts, own, checked(data.get("compare") or {}, dict[str, Any], "compare"))


def _part(data: Any, where: str, budget: Budget) -> saved_form.Part:
    form: _PartForm = checked(data, _PartForm, where)
    frames = _frames(form["frames"], f"{where}.frames", budget)
    documents = {
        kind: _document(kind, document, frames, f"{where}.documents.{kind}", budget)
        for kind, document in form["documents"].items()
    }
    return form["summary"], frames, documents


def _frames(form: _FramesForm, where: str, budget: Budget) -> Frames:
    files = tuple(_file(file, f"{where}.files[{at}]") for at, file in enumerate(form["files"]))
    columns = {name: _column(form["columns"], name, budget.frames, where) for name in Frames.COLUMNS}
    count = len(columns["file"])
    if not budget.takes(frames=count):
        raise BadForm(f"its call stacks have more than {saved_form.MOST_FRAMES:,} frames together")
    _check_length(columns, count, where)
    own = np.arange(count, dtype=np.int32)
    limits: dict[str, tuple[int, Any]] = {
        "file": (0, len(files)),
        "function": (0, len(form["functions"])),
        "parent": (-1, own),
        "user": (-1, own + 1),
    }
    for name, column in columns.items():
        low, end = limits.get(name, (0, None))
        _check_range(column, low, end, f"{where}.{name}")
    return Frames(files, tuple(form["functions"]), **columns)


def _file(file: list[Any], where: str) -> SourceFile:
    if len(file) not in (3, 5):
        raise BadForm(f"{where} must be a name, a cell and whether it is the user's, or also its cells and a checksum")
    name, cell, user = file[:3]
    in_editor = _in_editor(file[3], file[4], where) if file[3:] else TextInEditor()
    return SourceFile(
        checked(name, str, where),
        checked(cell, str | None, where),
        checked(user, bool, where),
        in_editor=lambda: in_editor,
    )


def _in_editor(cells: Any, crc: Any, where: str) -> TextInEditor:
    """The ids of the cells whose text the file is, and the checksum of the text."""
    ids, number = checked(cells, list[str], where), checked(crc, int | None, where)
    if len(ids) > _MOST_CELLS or any(len(each) > _LONGEST_ID for each in ids):
        raise BadForm(f"{where} names more than {_MOST_CELLS} cells, or one by more than {_LONGEST_ID} characters")
    if number is not None and not 0 <= number < 1 << 32:
        raise BadForm(f"{where} has the checksum {quoted(number)}, which is not one of 32 bits")
    return TextInEditor(tuple(ids), number)


def _document(kind: str, form: _DocumentForm, frames: Frames, where: str, budget: Budget) -> Document:
    if kind not in KINDS:
        raise BadForm(f"there are no documents of kind {quoted(kind)}; there are {', '.join(KINDS)}")
    text, scopes = _text(form["text"], where, budget), tuple(form["scopes"])
    rows = text.count("\n") + 1
    if not budget.takes(lines=rows):
        raise BadForm(f"its documents have more than {saved_form.MOST_LINES:,} lines together")
    if unknown := sorted(form["columns"].keys() - set(Document.COLUMNS)):
        raise BadForm(f"{where} has a column {quoted(unknown[0])}")
    names = [name for name in Document.COLUMNS if name in form["columns"] or name not in _OPTIONAL]
    columns: dict[str, Any] = {name: _column(form["columns"], name, rows, where) for name in names}
    _check_length(columns, rows, where)
    _check_references(kind, columns, len(frames), len(frames.files), len(scopes), where)
    return Document(kind=kind, text=text, frames=frames, scopes=scopes, **columns)


def _check_references(kind: str, columns: Mapping[str, Ints], frames: int, files: int, scopes: int, where: str) -> None:
    rows = len(columns["frame"])
    if any((name in columns) != (kind == "python") for name in _OWN_LINES):
        raise BadForm(f"{where} must {'' if kind == 'python' else 'not '}have the columns file and number")
    limits = {
        "frame": (-1, frames),
        "flags": (0, (OP | INFERRED | GRADIENT | LEFT_OUT) + 1),
        "fold_end": (-1, rows),
        "scope": (-1, scopes),
        "origin": (-1, rows),
        "file": (-1, files),
        "number": (-1, None),
    }
    for name, column in columns.items():
        _check_range(column, *limits[name], f"{where}.{name}")
    if kind == "python" and ((columns["file"] < 0) & (columns["number"] >= 0)).any():
        raise BadForm(f"{where} numbers lines of no file")


def _text(form: str | _PackedText, where: str, budget: Budget) -> str:
    """A document's text; plain in formats 1 and 2."""
    excess = f"its documents have more than {saved_form.LARGEST:,} bytes together"
    if isinstance(form, str):
        data = form.encode("utf-8", "surrogatepass")
    else:
        data = decompressed(form["data"], budget.text, excess)
    if not budget.takes(text=len(data)):
        raise BadForm(excess)
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise BadForm(f"{where} is not UTF-8 at byte {error.start:,}") from None


def _column(columns: Mapping[str, PackedColumn], name: str, most: int, where: str) -> Ints:
    if name not in columns:
        raise BadForm(f"{where} has no column {name!r}")
    return unpacked(columns[name], "u1" if name == "flags" else "i4", most, f"{where}.{name}")


def _check_length(columns: Mapping[str, Ints], length: int, where: str) -> None:
    for name, column in columns.items():
        if len(column) != length:
            raise BadForm(f"{where}.{name} has {len(column):,} entries, not {length:,}")


def _check_range(column: Ints, low: int, end: Any, where: str) -> None:
    """Every entry is from `low` up to, but not, `end`, which may be an array; None for no limit."""
    wrong = column < low if end is None else (column < low) | (column >= end)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise BadForm(f"{where}[{row:,}] refers to nothing: {int(column[row])}")
