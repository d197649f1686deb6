"""What viewers that run nothing leave of a notebook's HTML: after GitHub's public rules, and a stricter one."""

from __future__ import annotations

import bleach

ELEMENTS = frozenset([
    "h1", "h2", "h3", "h4", "h5", "h6", "br", "b", "i", "strong", "em", "a", "pre", "code", "img", "tt",
    "div", "ins", "del", "sup", "sub", "p", "ol", "ul", "table", "thead", "tbody", "tfoot",
    "blockquote", "dl", "dt", "dd", "kbd", "q", "samp", "var", "hr", "ruby", "rt", "rp", "li", "tr",
    "td", "th", "s", "strike", "summary", "details", "caption", "figure", "figcaption", "abbr", "bdo",
    "cite", "dfn", "mark", "small", "span", "time", "wbr",
])  # fmt: skip
ATTRIBUTES = {
    "a": ["href"],
    "img": ["src", "alt", "width", "height"],
    "*": [
        "align",
        "alt",
        "aria-label",
        "colspan",
        "dir",
        "height",
        "lang",
        "open",
        "rowspan",
        "scope",
        "title",
        "width",
    ],
}
"""Of html-pipeline, https://github.com/gjtorikian/html-pipeline: no style, no class, no script."""


def sanitised(html: str, images: bool) -> str:
    """The HTML as such a host shows it; its rules for READMEs drop images that are part of the page."""
    protocols = ["http", "https", *(["data"] if images else [])]
    return bleach.clean(html, tags=ELEMENTS, attributes=ATTRIBUTES, protocols=protocols, strip=True)
