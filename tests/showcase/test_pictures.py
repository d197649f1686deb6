"""The stored pictures are of today's notebooks, small, and say in text what they show."""

from __future__ import annotations

import re
import struct
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.showcase.picture import IMAGES, NOTEBOOKS, ROOT, Picture
from tests.showcase.picture_list import PICTURES
from tests.showcase.records import FILE, read_records
from tests.showcase.staleness import TABS, Stale, front_end_digest, staleness
from tests.showcase.stored import alternative

nbconvert_markdown = pytest.importorskip("nbconvert.filters.markdown_mistune")
each_picture = pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.name)
BY_HAND = {"cells.gif": "a recording of a hand that moves over the cells"}
TEXT_ALONE = {"12_in_tests_and_scripts": "its answers are printed text"}
PARTS = {b"IHDR", b"PLTE", b"IDAT", b"IEND"}


class Images(HTMLParser):
    """The images and the other elements of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.images: list[dict[str, str | None]] = []
        self.others: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "img":
            self.images.append(dict(attrs))
        else:
            self.others.add(tag)


def rendered(markdown: str) -> Images:
    """As nbconvert renders it."""
    return Images(nbconvert_markdown.markdown2html_mistune(markdown))


def chunks(png: bytes) -> list[tuple[bytes, bytes]]:
    """The parts of a PNG file by their names."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    at, parts = 8, []
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        parts.append((png[at + 4 : at + 8], png[at + 8 : at + 8 + length]))
        at += 12 + length
    return parts


@each_picture
def test_is_not_older_than_the_notebook(picture: Picture) -> None:
    stale = [one.value for one in staleness(picture, read_records().get(picture.name)) if one is not Stale.FRONT_END]
    assert not stale, f"{picture.file.name}: {stale}; make notebooks"


@pytest.mark.seldom("a change of a tab need not change its picture, and a new one takes a minute")
@each_picture
def test_is_not_older_than_its_tab(picture: Picture) -> None:
    record = read_records()[picture.name]
    assert front_end_digest(picture) == record.front_end, f"{Stale.FRONT_END.value}; make notebooks"


@each_picture
def test_is_of_a_tab_and_a_cell_that_exist(picture: Picture) -> None:
    assert (TABS / picture.view).is_dir()
    assert f'"id": "{picture.cell}"' in picture.path.read_text("utf-8")


@each_picture
def test_the_notebook_says_the_answer_beside_the_picture(picture: Picture) -> None:
    """By nbconvert's reading of the cell: one image, with the alternative text, and text that is text."""
    import nbformat

    notebook = nbformat.read(picture.path, as_version=4)
    at = next(at for at, cell in enumerate(notebook.cells) if f"images/{picture.file.name}" in cell.source)
    read = rendered(notebook.cells[at].source)
    assert [image["src"] for image in read.images] == [f"images/{picture.file.name}"]
    assert read.images[0]["alt"] == alternative(picture, read_records()[picture.name])
    assert read.others <= {"p", "em"}
    code = [cell for cell in notebook.cells[:at] if cell.cell_type == "code"]
    assert code[-1].id == picture.cell


@each_picture
def test_is_a_small_file_of_pixels_alone(picture: Picture) -> None:
    parts = chunks(picture.file.read_bytes())
    assert {name for name, _ in parts} <= PARTS
    width, height = struct.unpack(">II", parts[0][1][:8])
    assert width == 1000
    assert height <= 960


@pytest.mark.parametrize("notebook", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_each_notebook_has_pictures_of_at_most_300_kB(notebook: Path) -> None:
    sizes = [one.file.stat().st_size for one in PICTURES if one.path == notebook]
    assert bool(sizes) is not (notebook.stem in TEXT_ALONE)
    assert sum(sizes) <= 300_000


def test_answers_have_no_place_of_the_machine_that_made_them() -> None:
    text = "".join(path.read_text("utf-8") for path in (FILE, *sorted(NOTEBOOKS.glob("*.ipynb"))))
    assert not re.findall(r"/(?:home|root|Users|tmp|work)/\S*", text)


def test_every_image_is_taken_or_listed_as_made_by_hand() -> None:
    images = {path.name for path in IMAGES.iterdir()} - {FILE.name}
    assert images == {one.file.name for one in PICTURES} | set(BY_HAND)


def test_readme_shows_images_that_exist_with_alternative_texts() -> None:
    read = rendered((ROOT / "README.md").read_text("utf-8"))
    said = {f"notebooks/images/{one.file.name}": alternative(one, read_records()[one.name]) for one in PICTURES}
    assert len(read.images) > 5
    for image in read.images:
        source, alt = str(image["src"]), str(image["alt"])
        assert (ROOT / source).is_file()
        assert len(alt) > 20
        assert alt == said.get(source, alt)
