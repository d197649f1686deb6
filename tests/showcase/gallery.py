"""Offline pages of the notebooks' main panels, built by executing the notebooks."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import nbformat

from tests.showcase.answers import asking, read_answers
from tests.showcase.gallery_index import GalleryEntry, questions, write_index
from tests.showcase.gallery_list import GalleryPage
from tests.showcase.picture import NOTEBOOKS, ROOT

FOLDER = ROOT / "build" / "gallery"


def build(pages: Sequence[GalleryPage], folder: Path = FOLDER) -> Path:
    """Build these pages and the index of them; gives the index. Raises what a notebook's cell raises."""
    folder.mkdir(parents=True, exist_ok=True)
    asked = questions((ROOT / "README.md").read_text("utf-8"))
    return write_index(folder, [_built(page, folder, asked[page.notebook]) for page in pages])


def _built(page: GalleryPage, folder: Path, question: str) -> GalleryEntry:
    path = folder / page.file
    notebook = nbformat.read(NOTEBOOKS / f"{page.notebook}.ipynb", as_version=4)
    for source in (f"import jaxstage_ext\npath = {str(path)!r}\n{page.writes}", asking({page.notebook: page.asks})):
        notebook.cells.append(nbformat.v4.new_code_cell(source))
    _demo().run(notebook, NOTEBOOKS)
    answer = read_answers(notebook.cells[-1].outputs)[page.notebook]
    size = path.stat().st_size
    print(f"{path.relative_to(folder.parent)}: {size / 1e6:.1f} MB", flush=True)
    if page.picture is None or not page.picture.file.exists():
        return GalleryEntry(page.notebook, page.file, size, question, answer)
    shutil.copy(page.picture.file, folder)
    return GalleryEntry(page.notebook, page.file, size, question, answer, page.picture.file.name)


def _demo() -> ModuleType:
    """notebooks/demo.py, which is a script."""
    spec = importlib.util.spec_from_file_location("demo", NOTEBOOKS / "demo.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
