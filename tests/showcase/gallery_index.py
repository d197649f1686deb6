"""The gallery's first page: of each page a picture, the question and the answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

_INDEX = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>JAXStage gallery</title>
<style>
:root {{ color-scheme: light dark }}
body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem }}
ul {{ display: grid; gap: 2rem; grid-template-columns: repeat(auto-fill, minmax(20rem, 1fr)) }}
ul {{ list-style: none; padding: 0 }}
img {{ border: 1px solid #8886; height: auto; width: 100% }}
h2 {{ font-size: 1.05rem; margin: 0 0 .5rem }}
p {{ margin: .5rem 0; overflow-wrap: anywhere }}
</style>
</head>
<body>
<h1>What JAXStage answers</h1>
<p>Each page is the panel of a notebook as one file: interactive, offline, without a kernel.</p>
<ul>
{entries}
</ul>
</body>
</html>
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' file:"
_ENTRY = """<li>
<h2><a href="{page}">{question}</a></h2>
{thumbnail}<p>{answer}</p>
<p><small>{notebook} · {size:.1f} MB</small></p>
</li>"""
_ROW = re.compile(r"^\| \[(\w+)\]\(notebooks/\1\.ipynb\) \| (.+) \|$", re.MULTILINE)


@dataclass(frozen=True)
class GalleryEntry:
    """A page that was built: `page` and `picture` are names of files beside the index, `size` is in bytes."""

    notebook: str
    page: str
    size: int
    question: str
    answer: str
    picture: str = ""


def questions(readme: str) -> dict[str, str]:
    """What each notebook answers, by its name, from README's table."""
    return dict(_ROW.findall(readme))


def index_html(entries: Sequence[GalleryEntry]) -> str:
    return _INDEX.format(policy=_POLICY, entries="\n".join(map(_entry, entries)))


def write_index(folder: Path, entries: Sequence[GalleryEntry]) -> Path:
    path = folder / "index.html"
    path.write_text(index_html(entries), "utf-8")
    return path


def _entry(entry: GalleryEntry) -> str:
    image = f'<img src="{escape(entry.picture)}" alt="{escape(entry.answer)}">\n' if entry.picture else ""
    question = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(entry.question))
    return _ENTRY.format(
        page=escape(entry.page),
        question=question[:1].upper() + question[1:],
        thumbnail=image,
        answer=escape(entry.answer),
        notebook=escape(entry.notebook),
        size=entry.size / 1e6,
    )
