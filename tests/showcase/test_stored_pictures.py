"""What makes a picture stale, and how it is put into a notebook."""

from __future__ import annotations

import copy
import dataclasses
from pathlib import Path
from typing import Any

import pytest

from tests.showcase import stored
from tests.showcase.answers import asking, read_answers
from tests.showcase.picture import Picture
from tests.showcase.records import PictureRecord
from tests.showcase.staleness import Stale, cells_digest, front_end_digest, staleness
from tests.showcase.test_pictures import rendered

HOSTILE = (
    "](https://a.example) <img src=x onerror=alert(1)>",
    "`a` *b* __c__ [d](e) &lt;",
    "<script>x</script>",
    "\\]",
)


@dataclasses.dataclass(frozen=True)
class Made(Picture):
    """A picture whose files are a test's own."""

    folder: Path = Path()

    @property
    def file(self) -> Path:
        return self.folder / "made.png"

    @property
    def path(self) -> Path:
        return self.folder / "made.ipynb"


def notebook() -> dict[str, Any]:
    code = [{"cell_type": "code", "id": f"c{n}", "metadata": {}, "source": [f"x = {n}"]} for n in range(3)]
    return {"cells": code, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


@pytest.fixture
def picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    (tmp_path / "README.md").write_text(
        "![old [one\\]](notebooks/images/made.png) and ![x](notebooks/images/other.png)"
    )
    monkeypatch.setattr(stored, "README", tmp_path / "README.md")
    made = Made("made", "made", "c1", "The tab", "code", "x", folder=tmp_path)
    made.file.write_bytes(b"png")
    made.path.write_text(stored.json.dumps(notebook()))
    return made


def record(picture: Made, answer: str = "42") -> PictureRecord:
    return PictureRecord(answer, cells_digest(picture, notebook()), front_end_digest(picture), "0", "x")


def test_a_stored_picture_is_not_stale_until_something_changes(picture: Made) -> None:
    assert staleness(picture, None) == [Stale.MISSING]
    known = record(picture)
    assert staleness(picture, known) == [Stale.PLACE]
    stored.store(picture, known)
    assert staleness(picture, known) == []
    assert staleness(picture, dataclasses.replace(known, answer="43")) == [Stale.PLACE]
    assert staleness(picture, dataclasses.replace(known, front_end="")) == [Stale.FRONT_END]
    picture.path.write_text(picture.path.read_text().replace("x = 2", "x = 3"))
    assert staleness(picture, known) == [Stale.CELLS]


def test_a_change_of_how_it_is_taken_makes_it_stale(picture: Made) -> None:
    known = record(picture)
    stored.store(picture, known)
    assert staleness(dataclasses.replace(picture, clicks=(".a",)), known) == [Stale.CELLS]


def test_storing_twice_leaves_one_cell_behind_its_panel(picture: Made) -> None:
    before = copy.deepcopy(notebook())
    once = stored.with_picture(before, picture, record(picture))
    assert before == notebook()
    twice = stored.with_picture(once, picture, record(picture, "43"))
    assert [cell["id"] for cell in twice["cells"]] == ["c0", "c1", "picture-made", "c2"]
    assert "43" in "".join(twice["cells"][2]["source"])


def test_readme_has_the_alternative_text_too(picture: Made) -> None:
    stored.store(picture, record(picture, "a [b] c"))
    text = stored.README.read_text()
    assert [image["alt"] for image in rendered(text).images] == ["The tab: a [b] c", "x"]


@pytest.mark.parametrize("answer", HOSTILE)
def test_an_answer_is_text_and_never_markup(picture: Made, answer: str) -> None:
    read = rendered("".join(stored.picture_cell(picture, record(picture, answer))["source"]))
    assert [image["alt"] for image in read.images] == [f"The tab: {answer}"]
    assert read.others <= {"p", "em"}


def test_answers_are_asked_by_one_cell_that_runs(capsys: pytest.CaptureFixture[str]) -> None:
    exec(asking({"a": "1 + 1", "b": "'two  lines\\n here'"}))
    assert read_answers([{"text": capsys.readouterr().out}]) == {"a": "2", "b": "two lines here"}
    with pytest.raises(ValueError, match="no answers"):
        read_answers([{"output_type": "error", "ename": "NameError"}])
