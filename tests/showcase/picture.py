"""A picture of a notebook's panel, and where it belongs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
NOTEBOOKS = ROOT / "notebooks"
IMAGES = NOTEBOOKS / "images"


@dataclass(frozen=True)
class Picture:
    """What is pictured of a notebook, and what says the answer that it shows.

    Attributes:
      name: of the file in `IMAGES`, without its ending.
      notebook: the notebook's name without its ending.
      cell: id of the code cell whose panel it is; the picture's own cell follows it.
      title: what is seen, the beginning of the alternative text.
      answer: a Python expression of the notebook's names, evaluated at its end: one sentence without measured times.
      view: the tab, a folder of `labextension/src/tabs/`.
      clicks: selectors in the panel that are clicked afterwards, in order.
    """

    name: str
    notebook: str
    cell: str
    title: str
    view: str
    answer: str
    clicks: tuple[str, ...] = ()

    @property
    def file(self) -> Path:
        return IMAGES / f"{self.name}.png"

    @property
    def path(self) -> Path:
        return NOTEBOOKS / f"{self.notebook}.ipynb"
