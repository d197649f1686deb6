"""Where the stages of Programs show as they go; in a terminal that is text."""

from __future__ import annotations

import shutil
import sys
import threading

from jaxstage_ext.panel.params import Programs
from jaxstage_ext.views import text

LONG = 10.0
"""Seconds after which a compile in a terminal is said to take long."""


class View:
    """A place where the stages of Programs show as they go."""

    def refresh(self, programs: Programs) -> None:
        """Show how far the stages are."""

    def finish(self, programs: Programs) -> None:
        """Show the end."""


class Printed(View):
    """In a terminal: the text panel once everything is there, and before it a line on a compile that takes long."""

    def __init__(self) -> None:
        self._timer: threading.Timer | None = None

    def refresh(self, programs: Programs) -> None:
        from jaxstage_ext.program.head.compile_wait import compile_wait  # it imports JAX

        self._end_timer()
        waits = [wait for program in programs if (wait := compile_wait(program)) is not None]
        if waits:
            self._timer = threading.Timer(LONG, print, (f"compiling… {waits[0].text}",), {"file": sys.stderr})
            self._timer.daemon = True
            self._timer.start()

    def finish(self, programs: Programs) -> None:
        self._end_timer()
        print(text.panel_text(programs, shutil.get_terminal_size((100, 24)).columns, source=True))

    def _end_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
