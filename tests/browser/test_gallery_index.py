"""The gallery opens from files: pictures are seen, links lead to the pages, and nothing else is asked for."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.notebook_page import pictured
from tests.showcase.gallery_index import GalleryEntry, write_index
from tests.showcase.picture_list import PICTURES

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

IS_SEEN = "image => image.complete && image.naturalWidth > 0"


def test_the_gallery_opens_from_files(tmp_path: Path, browser: Browser) -> None:
    shown = PICTURES[:3]
    for each in shown:
        shutil.copy(each.file, tmp_path)
        (tmp_path / f"{each.name}.html").write_text(f"<!doctype html><title>{each.name}</title>")
    entries = [GalleryEntry(e.notebook, f"{e.name}.html", 1_000_000, e.title, "yes", e.file.name) for e in shown]
    page = browser.new_page(viewport={"width": 1000, "height": 800})
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text))
    page.on("request", lambda request: problems.append(request.url) if not request.url.startswith("file:") else None)
    page.goto(write_index(tmp_path, entries).as_uri())
    images = page.get_by_role("img", name="yes")
    expect(images).to_have_count(3)
    assert all(image.evaluate(IS_SEEN) for image in images.all())
    pictured(page, "gallery")
    page.get_by_role("link", name=shown[1].title).click()
    expect(page).to_have_title(shown[1].name)
    assert problems == []
    page.close()
