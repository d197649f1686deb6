"""The gallery: each notebook has a page with its question, its answer and a picture."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.showcase.gallery import build
from tests.showcase.gallery_index import GalleryEntry, index_html, questions
from tests.showcase.gallery_list import PAGES, GalleryPage
from tests.showcase.picture import NOTEBOOKS, ROOT


class Attributes(HTMLParser):
    """The attributes of all elements by their tag, and the text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.of: dict[str, list[dict[str, str | None]]] = {}
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.of.setdefault(tag, []).append(dict(attrs))

    def handle_data(self, data: str) -> None:
        self.text += data


def test_each_notebook_has_a_page_and_a_question_in_readme() -> None:
    notebooks = {path.stem for path in NOTEBOOKS.glob("*.ipynb")}
    assert {page.notebook for page in PAGES} == notebooks
    assert questions((ROOT / "README.md").read_text("utf-8")).keys() == notebooks


def test_the_index_has_a_link_the_answer_and_a_picture_with_it() -> None:
    entries = [
        GalleryEntry("09_change", "09_change.html", 2_340_000, "what is `x`?", "<b>1 & 2</b>", "findings.png"),
        GalleryEntry("12_tests", "12_tests.html", 1_000_000, "how?", "by text"),
    ]
    read = Attributes(index_html(entries))
    assert [link["href"] for link in read.of["a"]] == ["09_change.html", "12_tests.html"]
    assert read.of["img"] == [{"src": "findings.png", "alt": "<b>1 & 2</b>"}]
    assert "What is x?" in read.text and "2.3 MB" in read.text
    assert "b" not in read.of and "script" not in read.of


def check(folder: Path, pages: list[GalleryPage]) -> None:
    read = Attributes((folder / "index.html").read_text("utf-8"))
    assert [link["href"] for link in read.of["a"]] == [page.file for page in pages]
    for page in pages:
        assert 100_000 < (folder / page.file).stat().st_size < 4_000_000
    for image in read.of.get("img", ()):
        assert (folder / str(image["src"])).is_file()
        assert len(str(image["alt"])) > 20


@pytest.mark.seldom("executes a notebook, whose page has its own tests; the index is tested above")
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.notebook)
def test_a_page_is_built_from_its_notebook(page: GalleryPage, tmp_path: Path) -> None:
    build([page], tmp_path)
    check(tmp_path, [page])
