"""The pytree path of each parameter of a module, by the name that XLA gave it: `params__w__.1` is `params['w']`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from jaxstage_ext.report.document import Document
from jaxstage_ext.report.line_table import rows_of

_PARAMETER = " parameter("
_NAME = re.compile(r"%?([\w.\-]+) = ")
_NUMBER = re.compile(r"\.\d+$")
_NAMES = re.compile(r"%([\w.\-]+)")
MOST = 2000
"""Arguments whose paths are looked up."""


def parameter_paths(doc: Document) -> dict[str, str]:
    """Names of the entry computation's parameters with their paths, where they differ."""
    found: dict[str, str] = {}
    rows = rows_of(doc)
    for at in _parameters(doc.text):
        row = int(np.searchsorted(rows.starts, at, side="right")) - 1
        named = _NAME.match(rows.line(row).strip())
        path = doc.scopes[doc.scope[row]] if doc.scope[row] >= 0 else ""
        if named and path and path != _NUMBER.sub("", named[1]):
            found[named[1]] = path
    return found


def _parameters(text: str) -> Iterator[int]:
    at = text.find("\nENTRY ")
    for _ in range(MOST):
        at = text.find(_PARAMETER, at + 1) if at >= 0 else -1
        if at < 0:
            return
        yield at


def paths_in(doc: Document, lines: Sequence[str]) -> dict[str, str]:
    """The paths of the arguments that some lines name, in order."""
    paths = parameter_paths(doc)
    names = (name for line in lines for name in _NAMES.findall(line))
    return {name: paths[name] for name in names if name in paths}
