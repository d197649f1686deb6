"""What is on record of each stored picture: what made it, and what it says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from tests.showcase.picture import IMAGES

FILE = IMAGES / "pictures.json"


@dataclass(frozen=True)
class PictureRecord:
    """Of one picture.

    Attributes:
      answer: the sentence that the panel gave.
      cells: digest of the notebook's code cells and of how the picture is taken.
      front_end: digest of the source and style of the tab that is seen.
      jax: the version of JAX that gave the figures.
      machine: the processor's architecture, as `platform.machine` has it.
    """

    answer: str
    cells: str
    front_end: str
    jax: str
    machine: str


def read_records() -> dict[str, PictureRecord]:
    """The records by the names of pictures; none where no picture was taken yet."""
    if not FILE.exists():
        return {}
    return {name: PictureRecord(**fields) for name, fields in json.loads(FILE.read_text("utf-8")).items()}


def write_records(records: Mapping[str, PictureRecord]) -> None:
    form = {name: asdict(record) for name, record in sorted(records.items())}
    FILE.write_text(json.dumps(form, indent=1, ensure_ascii=False) + "\n", "utf-8")
