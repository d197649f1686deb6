"""What a sentence tells its reader to type: a magic in IPython; elsewhere, as in marimo or a script, Python."""

from __future__ import annotations

import sys


def in_ipython() -> bool:
    """Whether this process has a shell of IPython's, which alone knows magics."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and ipython.get_ipython() is not None


def typed(magic: str, python: str) -> str:
    """The form of two that can be typed here; both do the same."""
    return magic if in_ipython() else python
