"""The pages of the gallery: the main panel of each notebook, as it is written as one offline file."""

from __future__ import annotations

from dataclasses import dataclass

from tests.showcase.picture import NOTEBOOKS, Picture
from tests.showcase.picture_list import PICTURES


@dataclass(frozen=True)
class GalleryPage:
    """A page of the gallery.

    Attributes:
      notebook: the notebook's name without its ending.
      writes: what writes the page to `path`, in the notebook's names, run at its end.
      answer: an expression for the answer in one sentence where no picture has it.
    """

    notebook: str
    writes: str
    answer: str = ""

    @property
    def file(self) -> str:
        return f"{self.notebook}.html"

    @property
    def picture(self) -> Picture | None:
        """The notebook's first picture."""
        return next((one for one in PICTURES if one.notebook == self.notebook), None)

    @property
    def asks(self) -> str:
        """The expression of its answer."""
        return self.answer or (self.picture.answer if self.picture else "''")


_WHOLE = "ins.to_html(path, all=True)"
_OTHERS = {
    "02_hardware_you_do_not_have": "first.to_html(path)",
    "06_profile_a_step": "slow.timeline.to_html(path)",
    "07_why_did_it_compile_again": "history.to_html(path)",
    "10_which_sharding": "jaxstage_ext.Inspection.of(layouts.program).to_html(path, all=True)",
    "11_several_processes": "differ.to_html(path)",
}
PAGES = tuple(GalleryPage(path.stem, _OTHERS.get(path.stem, _WHOLE)) for path in sorted(NOTEBOOKS.glob("*.ipynb")))
