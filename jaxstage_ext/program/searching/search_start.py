"""The start of a search from the panel of a program."""

from __future__ import annotations

import threading

from jaxstage_ext.program.program import Program
from jaxstage_ext.program.searching.kept_search import KeptSearch
from jaxstage_ext.report.progress import Progress
from jaxstage_ext.report.unavailable import Unavailable

USUAL_SECONDS = 60
"""The budget of a search that the panel offers."""


def can_be_searched(program: Program) -> bool:
    """Whether the layouts of a program can be searched; computes nothing."""
    return False


def search_program(
    program: Program, mesh: str, seconds: float, progress: Progress, cancel: threading.Event
) -> KeptSearch:
    """Search the layouts of a program and keep what was found, also once `cancel` is set.

    `mesh` is `data=4,model=2`, or "" for every mesh. Raises Unavailable, or a user's mistake of one line.
    """
    raise Unavailable("layouts cannot be searched yet")
