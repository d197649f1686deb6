"""Texts that a page which took them for markup, code or a pattern would run, draw or break on."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import pytest

RUN = "window.pwned=1"
PAYLOADS = {
    "script": f"<script id=pwn>{RUN}</script>",
    "image": f"<img id=pwn src=x onerror='{RUN}'>",
    "end of attribute": f"\"'><svg id=pwn onload={RUN}>",
    "link": f"javascript:{RUN}//",
    "constructor": "{{constructor.constructor('" + RUN + "')()}}",
    "template": "${" + RUN + "}`${" + RUN + "}`",
    "end of style": f"</style><style id=pwn>*{{display:none}}</style><script>{RUN}</script>",
    "end of textarea": f"</textarea></title></noscript></script><script id=pwn>{RUN}</script>",
    "end of CDATA": f"]]><b id=pwn>b</b><!--<script>{RUN}</script>-->",
    "right to left": "\u202eevil\u2066\u2067x",
    "zero width": "a\u200bb\u200d\ufeffc\u2060d",
    "NUL": "nul\x00mark<b id=pwn>\x08\x7f",
    "ANSI": "\x1b[31mred\x1b]8;;http://evil\x07link\x1b[2J",
    "long word": "w" * 100_000,
    "lone surrogate": "lone\ud800mark\udfff",
    "joined emoji": "👩‍👩‍👧‍👦🏳️‍🌈" * 3 + "Z" + "\u0301" * 300,
    "line separator": "one\u2028two\u2029three\x85four\x0bfive",
    "escaped twice": f"&lt;script id=pwn&gt;{RUN}&lt;/script&gt;&amp;lt;&#60;b id=pwn&#62;",
    "Markdown": f"[mark](javascript:{RUN}) ![x](http://evil/x.png) <http://evil> `$\\href{{javascript:{RUN}}}{{x}}$`",
    "prototype": "__proto__",
    "frame": f"<iframe id=pwn srcdoc='<script>parent.{RUN}</script>'></iframe><base href=http://evil/>",
    "form": f"<form id=pwn action=javascript:{RUN}><input autofocus onfocus={RUN}><details open ontoggle={RUN}>",
}
"""Each would set `window.pwned`, make an element with the id "pwn", ask evil for something, or stretch the page."""
ALONE = ("link", "long word", "prototype")
"""Those that do something only where they are all of a text."""
JOINED = {
    "markup": (
        "end of attribute",
        "end of style",
        "end of textarea",
        "end of CDATA",
        "script",
        "image",
        "frame",
        "form",
    ),
    "patterns": ("constructor", "template", "Markdown", "escaped twice"),
    "characters": (
        *("right to left", "zero width", "NUL", "ANSI", "lone surrogate", "joined emoji", "line separator"),
    ),
}
"""Those that do the same within a longer text: what takes one for markup takes all of it."""
AT_ONCE = {name: PAYLOADS[name] for name in ALONE} | {
    name: " ".join(PAYLOADS[each] for each in parts) for name, parts in JOINED.items()
}
"""All payloads in six texts."""
EACH_AND_AT_ONCE = pytest.mark.parametrize(
    "texts",
    [
        pytest.param(AT_ONCE, id="at once"),
        pytest.param(
            PAYLOADS, id="each", marks=pytest.mark.seldom("the same texts one by one, a walk through all tabs for each")
        ),
    ],
)
Texts = dict[str, str]
"""Payloads by what they are."""

FAULTS = """() => {
    const faults = [];
    const inside = root => [...root.querySelectorAll('*')].filter(e => e.shadowRoot).flatMap(e => roots(e.shadowRoot));
    const roots = root => [root, ...inside(root)];
    if (window.pwned !== undefined) faults.push('a script ran');
    if (Object.keys(Object.prototype).length) faults.push('Object.prototype was changed');
    for (const root of roots(document)) {
        for (const made of root.querySelectorAll('[id^=pwn]')) faults.push(`made: ${made.outerHTML.slice(0, 200)}`);
        for (const element of root.querySelectorAll('.jaxstage *, .jaxstage-static *, main *')) {
            for (const { name, value } of element.attributes) {
                const address = /^(href|src|action|formaction)$/.test(name) && /^(javascript|https?):/i.test(value);
                if (name.startsWith('on') || address) faults.push(`an attribute was made: ${name}=${value}`);
            }
        }
    }
    for (const panel of document.querySelectorAll('.jaxstage')) {
        const { scrollWidth, clientWidth } = panel;
        if (scrollWidth > clientWidth + 1) faults.push(`the panel is ${scrollWidth} wide in ${clientWidth}`);
    }
    const page = document.documentElement;
    if (page.scrollWidth > innerWidth + 1) faults.push(`the page is ${page.scrollWidth} wide in ${innerWidth}`);
    return faults;
}"""
"""What is wrong in a page that shows payloads; empty where nothing is."""

Path = tuple[str | int, ...]


def strings(value: Any, at: Path = ()) -> Iterator[Path]:
    """Where plain JSON has strings."""
    if isinstance(value, str):
        yield at
    elif isinstance(value, dict):
        for name, part in value.items():
            yield from strings(part, (*at, name))
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from strings(part, (*at, number))


def replaced(value: Any, paths: list[Path], text: str) -> Any:
    """A copy with this text in these places."""
    made = copy.deepcopy(value)
    for path in paths:
        inner = made
        for step in path[:-1]:
            inner = inner[step]
        inner[path[-1]] = text
    return made


def free(value: Any, accepts: Callable[[Any], bool]) -> list[Path]:
    """The places whose string may be any text: `accepts` takes the value with another one there."""
    return [path for path in strings(value) if accepts(replaced(value, [path], "<any> text"))]
