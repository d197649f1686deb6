"""`open FILE` and `compare A B`: what was saved, as text, JSON or an offline page."""

from __future__ import annotations

import json
from argparse import Namespace
from typing import Any

from jaxstage_ext.command import command_wording as wording
from jaxstage_ext.command.command_error import CommandError


def open_command(options: Namespace) -> tuple[str, int]:
    """A saved file in short, or where its page was written. Raises CommandError."""
    opened = _opened(options.file, options.target)
    if options.html:
        if not hasattr(opened, "to_html"):
            raise CommandError(wording.no_page(type(opened).__name__))
        return str(opened.to_html(options.html) or options.html), 0
    if options.json:
        return json.dumps(opened.summary()) if hasattr(opened, "summary") else _json(opened), 0
    return opened._repr_llm_() if hasattr(opened, "_repr_llm_") else str(opened), 0


def compare_command(options: Namespace) -> tuple[str, int]:
    """The second file beside the first. Raises CommandError where they are of two kinds."""
    before, after = (_opened(file, ()) for file in (options.before, options.after))
    from jaxstage_ext.api.inspection import Inspection
    from jaxstage_ext.profiling.timeline import Timeline

    if isinstance(before, Inspection) and isinstance(after, Inspection):
        compared = after.compare(before)
        return (json.dumps(compared.to_dict()), 0) if options.json else (f"{compared}\n\n{after.difference(before)}", 0)
    if isinstance(before, Timeline) and isinstance(after, Timeline):
        table = before.compare(after)
        return table.to_json(limit=max(1, len(table))) if options.json else str(table), 0
    raise CommandError(wording.not_alike(type(before).__name__, type(after).__name__))


def _opened(file: str, target: Any) -> Any:
    from jaxstage_ext.api.load import load

    try:
        return load(file, target=target or ())
    except FileNotFoundError:
        raise CommandError(wording.no_file(file)) from None
    except (ValueError, OSError) as error:
        raise CommandError(str(error)) from None


def _json(opened: Any) -> str:
    text: str = (opened if hasattr(opened, "to_json") else opened.by_line()).to_json(limit=100)
    return text
