"""`last`: the last magic line of each stage, for a button that does the same to another cell."""

from __future__ import annotations

from jaxstage_ext.panel.connection import Connection, FrontEndMethod
from jaxstage_ext.panel.params import Answer, Params


def _last(connection: Connection, params: Params) -> Answer:
    """By stage the line, whole, and its options without those that belong to one cell alone, such as `-o`."""
    return {"lines": {stage: dict(line) for stage, line in connection.notebook.last_lines().items()}}, []


METHODS: dict[str, FrontEndMethod] = {"last": _last}
