"""Texts as a message can carry them: UTF-8 has no lone surrogates, which Python's strings may hold.

Whoever named a file does not lay out the message that has its name.
"""

from __future__ import annotations

from typing import Any

from jaxstage_ext.report.text.shortened import shortened


def encodable(text: str) -> str:
    r"""The text with each lone surrogate as Python writes it: `\ud800`."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def encodable_json(value: Any) -> Any:
    """Data of plain JSON types, keys included, with each of its texts encodable."""
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, dict):
        return {encodable_json(key): encodable_json(inner) for key, inner in value.items()}
    return [encodable_json(inner) for inner in value] if isinstance(value, list | tuple) else value


_LONGEST = 200


def shown_name(name: str) -> str:
    """The name; quoted where it holds a line break, an escape sequence or the like, and cut short."""
    cut = shortened(name, _LONGEST)
    return cut if cut.isprintable() else repr(cut)
