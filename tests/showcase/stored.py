"""A picture in the notebook that it is of: a markdown cell after the panel's, which names the file and says the answer.

It is not an output of the panel's cell: JupyterLab and GitHub give an output no alternative text, and base64 in a
notebook hides its code from who reads the file or a diff.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from tests.showcase.picture import ROOT, Picture
from tests.showcase.records import PictureRecord

README = ROOT / "README.md"
CAPTION = "*A saved picture of the panel above.*"


def alternative(picture: Picture, record: PictureRecord) -> str:
    """What is seen, and the answer that it gives."""
    return f"{picture.title}: {record.answer}"


def escaped(text: str) -> str:
    """Text as Markdown that means nothing but itself."""
    return re.sub(r"([\\`*_\[\]<>&~$|]|:(?=//))", r"\\\1", text)


def picture_cell(picture: Picture, record: PictureRecord) -> dict[str, Any]:
    """The markdown cell."""
    said = escaped(alternative(picture, record))
    lines = [f"![{said}](images/{picture.file.name})\n", "\n", f"{CAPTION} {escaped(record.answer)}"]
    return {"cell_type": "markdown", "id": _id(picture), "metadata": {"tags": ["picture"]}, "source": lines}


def with_picture(notebook: Mapping[str, Any], picture: Picture, record: PictureRecord) -> dict[str, Any]:
    """The notebook with a picture's cell after the cell that it is of, in place of an earlier one."""
    cells = [cell for cell in notebook["cells"] if cell["id"] != _id(picture)]
    at = next(at for at, cell in enumerate(cells) if cell["id"] == picture.cell) + 1
    while at < len(cells) and cells[at]["id"].startswith("picture-"):
        at += 1
    return {**notebook, "cells": [*cells[:at], picture_cell(picture, record), *cells[at:]]}


def has_picture(notebook: Mapping[str, Any], picture: Picture, record: PictureRecord) -> bool:
    """Whether the notebook has the picture with what is on record, and README too where it shows the same file."""
    return picture_cell(picture, record) in notebook["cells"] and in_readme(picture, record) == README.read_text(
        "utf-8"
    )


def in_readme(picture: Picture, record: PictureRecord) -> str:
    """README with the alternative text of a picture that it shows."""
    said = escaped(alternative(picture, record))
    link = rf"!\[(?:\\.|[^\]\\])*\]\(notebooks/images/{re.escape(picture.file.name)}\)"
    shown = f"![{said}](notebooks/images/{picture.file.name})"
    return re.sub(link, lambda _: shown, README.read_text("utf-8"))


def store(picture: Picture, record: PictureRecord) -> None:
    """Write a picture's cell into its notebook, and its alternative text into README where that shows it."""
    notebook = json.loads(picture.path.read_text("utf-8"))
    text = json.dumps(with_picture(notebook, picture, record), indent=1, ensure_ascii=False)
    picture.path.write_text(text + "\n", "utf-8")
    README.write_text(in_readme(picture, record), "utf-8")


def _id(picture: Picture) -> str:
    return f"picture-{picture.name.replace('_', '-')}"
