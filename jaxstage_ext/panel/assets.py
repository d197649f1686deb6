"""The built front end, read from `jaxstage_ext/static`."""

from __future__ import annotations

import json
from pathlib import Path

STATIC = Path(__file__).resolve().parent.parent / "static"


class FrontEndMissing(RuntimeError):
    """The front end was never built; the text is one line that says how to build it."""


def text(name: str) -> str:
    """The text of a built file. Raises FrontEndMissing when it is not there."""
    return _read(name)


def scripts() -> list[str]:
    """The tabs whose script the panel asks for when they are opened, as the build lists them."""
    return [str(name) for name in json.loads(_read("tabs.json"))]


def _read(name: str) -> str:
    try:
        return (STATIC / name).read_text("utf-8")
    except OSError as error:
        raise FrontEndMissing(
            f"jaxstage_ext/static/{name} is missing: the interactive panel was not built; "
            "run npm ci && npm run build in labextension/, or install a built wheel"
        ) from error
