"""One file that holds the interactive panel and everything it shows; no network, no kernel."""

from __future__ import annotations

import base64
import errno
import hashlib
import json
import os
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jaxstage_ext.panel import assets
from jaxstage_ext.panel.params import Programs
from jaxstage_ext.panel.saving.saved_call import SavedReplies, saved_calls
from jaxstage_ext.report import measuring
from jaxstage_ext.report.text.terminal import clean, cut
from jaxstage_ext.report.text.units import scaled
from jaxstage_ext.views.static_html import panel_html

if TYPE_CHECKING:
    from jaxstage_ext.program.program import Program

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>:root {{ color-scheme: light dark }}
body {{ margin: 0; font: 13px system-ui, sans-serif }}
{style}</style>
</head>
<body>
<main id="jaxstage"></main>
<noscript>{static}</noscript>
<script type="application/json" id="jaxstage-data">{data}</script>
<script>{script}</script>
</body>
</html>
"""


@dataclass(frozen=True)
class WrittenPage:
    """An offline page that was written. `size` is in bytes."""

    path: Path
    size: int

    def __repr__(self) -> str:
        return f"{self.path}, {scaled(self.size, 'B')}"


def page_html(programs: Programs, source: bool | None = None, every: bool = False) -> str:
    """The page as text, with or without source, None for the default; `every` computes all tabs first.

    Raises FrontEndMissing when the front end was not built.
    """
    with measuring.left_alone():
        return _page_html(programs, source, every)


def _page_html(programs: Programs, source: bool | None, every: bool) -> str:
    script = _inert(assets.text("standalone.js"))
    return _PAGE.format(
        policy=_policy(script),
        title=escape(_title(programs)),
        style=assets.text("panel.css").replace("</", "<\\/"),
        static=panel_html(programs, source),
        data=_embedded(list(_reports(programs, source, every))),
        script=script,
    )


def write(
    programs: Programs, path: str | os.PathLike[str], source: bool | None = None, every: bool = False
) -> WrittenPage:
    """Write the page, whole or not at all; with or without source, None for the default; `every` computes all tabs.

    Raises OSError, naming the path, where that cannot be done.
    """
    html = page_html(programs, source, every).encode("utf-8", "replace")
    try:
        target = Path(path).expanduser()
        beside = target.with_name(f".{uuid.uuid4().hex}.tmp")
        try:
            beside.write_bytes(html)
            os.replace(beside, target)
        finally:
            beside.unlink(missing_ok=True)
    except (OSError, ValueError, RuntimeError) as error:  # the latter two of ".", a NUL and "~nobody"
        number, reason = getattr(error, "errno", None), getattr(error, "strerror", None)
        raise OSError(
            number or errno.EINVAL, f"cannot write the page to {str(path)!r}: {reason or error}; choose another path"
        ) from None
    return WrittenPage(target, len(html))


def _policy(script: str) -> str:
    """Nothing runs but our own script, and nothing is fetched."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    allowed = f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:"
    return f"{allowed}; base-uri 'none'; form-action 'none'"


def _title(programs: Programs) -> str:
    names = ", ".join(dict.fromkeys(clean(program.name) for program in programs))
    return f"{cut(names, 80)} · JAXStage"


def _inert(script: str) -> str:
    """The same script, with nothing that ends or comments out its element."""
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _embedded(data: list[dict[str, Any]]) -> str:
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def _reports(programs: Programs, source: bool | None, every: bool) -> Iterator[dict[str, Any]]:
    """A saved report for each call, with the targets of it that are shown."""
    from jaxstage_ext.panel.saving import kernel_replies, page_replies  # they import JAX

    def replies_of(program: Program) -> SavedReplies:
        if program.tab:
            return kernel_replies.replies(program, source)
        return page_replies.replies(program, source, every)

    for call in saved_calls(programs, source, replies_of):
        yield call.report()
