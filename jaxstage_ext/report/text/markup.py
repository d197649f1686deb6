"""Still forms as HTML that runs no code: the one place that writes elements, and that escapes what stands in them.

No script, no style sheet, no class: whatever strips styles (GitHub) leaves a readable text, and a sanitiser leaves it
as it is.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from html import escape
from typing import NewType

from jaxstage_ext.report.text.still_table import Cell, Colour, Face, Head, Picture, Span, StillTable
from jaxstage_ext.report.text.terminal import clean, cut

Html = NewType("Html", str)
"""What is markup already; all other text becomes it by `said`."""
NOTHING = Html("")
_CODE = "font-family:var(--jp-code-font-family,ui-monospace,monospace);font-size:.92em"
_CLEAR = "background:none"
_CELL = f"padding:2px 14px 2px 0;vertical-align:top;border:none;{_CLEAR}"
_BOX = f"margin:0 0 12px 0;padding:6px 10px;border:1px solid {Colour.DIM};border-radius:4px;overflow-wrap:anywhere"
_BLOCK = f"margin:4px 0;padding:0;line-height:1.4;font-family:monospace;{_CLEAR}"
_WRAPS = "white-space:pre-wrap;word-break:normal;overflow-wrap:anywhere"
_ELEMENTS = {Face.STRONG: "b", Face.CODE: "code", Face.ADDED: "ins", Face.REMOVED: "del"}


def together(parts: Iterable[Html], between: str = "") -> Html:
    """The parts one after the other; empty ones are left out."""
    return Html(escape(between).join(part for part in parts if part))


def lines(parts: Iterable[Html]) -> Html:
    """The parts one below the other; empty ones are left out."""
    return Html("<br>".join(part for part in parts if part))


def size(html: str) -> int:
    """Bytes that it takes."""
    return len(html.encode("utf-8", "replace"))


def said(text: str, colour: str = "", face: Face = Face.TEXT, most: int = 4000) -> Html:
    """A text on one line, in at most so many columns, with its look."""
    shown = cut(clean(text), most)
    code = shown.lstrip(" ")
    indent = "&nbsp;" * (len(shown) - len(code)) if face is Face.CODE else shown[: len(shown) - len(code)]
    return _drawn(indent + escape(code), colour, face)


def dim(text: str, most: int = 200) -> Html:
    """A text that stands back."""
    return said(text, Colour.DIM, most=most)


def strong(inner: Html) -> Html:
    """What stands out."""
    return Html(f"<b>{inner}</b>")


def paragraph(*parts: Html) -> Html:
    """Lines one below the other."""
    return Html(f'<p style="margin:4px 0">{lines(parts)}</p>')


def note(text: str) -> Html:
    """A line of its own."""
    return Html(f'<div style="margin:2px 0">{said(text)}</div>')


def items(parts: Iterable[Html]) -> Html:
    """A list of points; nothing where there are none."""
    listed = "".join(f"<li>{part}</li>" for part in parts)
    return Html(f'<ul style="margin:4px 0">{listed}</ul>' if listed else "")


def block(parts: Iterable[Html], wraps: bool = False) -> Html:
    """Lines of code; those that are too long are wrapped, or scroll."""
    how = _WRAPS if wraps else "white-space:pre;overflow-x:auto"
    return Html(f'<pre style="{_BLOCK};{how}">{chr(10).join(parts)}</pre>')


def box(*parts: Html) -> Html:
    """Parts with a frame around them."""
    return Html(f'<div style="{_BOX}">{together(parts)}</div>')


def details(title: str, body: Html, is_open: bool = False) -> Html:
    """What a click on its title opens."""
    return Html(f"<details{' open' if is_open else ''}><summary>{said(title)}</summary>{body}</details>")


def picture(drawn: Picture) -> Html:
    """An image that is in the page itself.

    Style sheets that let an image choose its height, as nbconvert's, keep its shape: it has as many pixels.
    """
    data = base64.b64encode(drawn.png).decode()
    measures = f'width="{drawn.width}" height="{drawn.height}"'
    return Html(f'<img alt="{escape(drawn.alt)}" {measures} src="data:image/png;base64,{data}">')


def table(still: StillTable) -> Html:
    """The rows, and how many are left out; without a title."""
    if not still.rows:
        return NOTHING
    titles = "".join(map(_head, still.heads))
    head = f"<thead><tr>{titles}</tr></thead>" if titles else ""
    body = "".join(f"<tr>{''.join(_cells(still, row))}</tr>" for row in still.rows)
    style = f"border-collapse:collapse;margin:4px 0{f';{_CODE}' if still.is_code else ''}"
    whole = f'<table style="{style}">{head}{body}</table>'
    return Html(f'<div style="overflow-x:auto">{whole}</div>{note(still.more) if still.more else ""}')


def titled(still: StillTable) -> Html:
    """The table below its title, which opens it."""
    return details(still.title, table(still), still.is_open)


def _head(head: Head) -> str:
    style = f"{_style(head)};border-bottom:1px solid rgba(128,128,128,.35)"
    return f'<th style="{style}"{_title(head.hint)}>{said(head.title)}</th>'


def _cells(still: StillTable, row: tuple[Cell, ...]) -> Iterable[str]:
    heads = still.heads or (Head(""),) * len(row)
    return (_cell(cell, head) for cell, head in zip(row, heads, strict=True))


def _cell(cell: Cell, head: Head) -> str:
    spans = cell if isinstance(cell, tuple) else (cell if isinstance(cell, Span) else Span(cell),)
    first = spans[0]
    edge = f";padding-left:6px;border-left:6px solid {first.edge}" if first.edge else ""
    return f'<td style="{_style(head)}{edge}"{_title(first.hint)}>{"".join(_inner(spans))}</td>'


def _inner(spans: tuple[Span, ...]) -> Iterable[str]:
    for at, span in enumerate(spans):
        if span.face is Face.BLOCK:
            yield block((said(line) for line in span.text.split("\n")), wraps=True)
            continue
        yield "<br>" if at else ""
        yield f"{picture(span.picture)} " if span.picture else ""
        yield said(span.text, span.colour, span.face)


def _style(head: Head) -> str:
    wraps = f"white-space:normal;overflow-wrap:anywhere;min-width:{head.least}em" if head.least else "white-space:pre"
    most = f";max-width:{head.most}em" if head.most else ""
    return f"{_CELL};text-align:{'right' if head.is_figure else 'left'};{wraps}{most}"


def _title(hint: str) -> str:
    return f' title="{escape(clean(hint))}"' if hint else ""


def _drawn(inner: str, colour: str, face: Face) -> Html:
    element = _ELEMENTS.get(face) or ("span" if colour else "")
    looks = [f"padding:0;{_CLEAR}"] if face is Face.CODE else []
    style = ";".join([*looks, f"color:{colour}"] if colour else looks)
    attribute = f' style="{style}"' if style else ""
    return Html(f"<{element}{attribute}>{inner}</{element}>" if element and inner else inner)
