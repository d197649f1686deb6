"""Whether a stored picture is older than what made it."""

from __future__ import annotations

import enum
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import astuple
from typing import Any

from tests.showcase.picture import ROOT, Picture
from tests.showcase.records import PictureRecord
from tests.showcase.stored import has_picture

TABS = ROOT / "labextension" / "src" / "tabs"


class Stale(enum.Enum):
    """Why a picture is not what the code makes today."""

    MISSING = "there is no such picture yet"
    CELLS = "the notebook's code, or how the picture is taken, has changed since"
    PLACE = "the notebook or README does not show it as it is on record"
    FRONT_END = "the source or style of its tab has changed since"


def staleness(picture: Picture, record: PictureRecord | None) -> list[Stale]:
    """Why a picture is stale, from files alone; nothing is executed."""
    if record is None or not picture.file.exists():
        return [Stale.MISSING]
    holds = {
        Stale.CELLS: record.cells == cells_digest(picture, notebook_of(picture)),
        Stale.PLACE: has_picture(notebook_of(picture), picture, record),
        Stale.FRONT_END: record.front_end == front_end_digest(picture),
    }
    return [reason for reason, is_so in holds.items() if not is_so]


def notebook_of(picture: Picture) -> dict[str, Any]:
    notebook: dict[str, Any] = json.loads(picture.path.read_text("utf-8"))
    return notebook


def cells_digest(picture: Picture, notebook: Mapping[str, Any]) -> str:
    """Of the sources of all code cells, and of what the picture is of."""
    code = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return _digest(map(str.encode, [*map(repr, astuple(picture)), *code]))


def front_end_digest(picture: Picture) -> str:
    """Of the files of the tab that the picture shows; what all tabs share is not in it, so it stays of this one."""
    files = sorted(path for path in (TABS / picture.view).rglob("*") if path.is_file())
    return _digest(path.read_bytes() for path in files)


def _digest(parts: Iterable[bytes]) -> str:
    each = [hashlib.sha256(part).hexdigest() for part in parts]
    return hashlib.sha256("\n".join(each).encode()).hexdigest()[:16]
