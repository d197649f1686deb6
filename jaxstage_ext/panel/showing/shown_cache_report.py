"""The persistent cache as a value that shows itself: the panel in a notebook, text in a terminal."""

from __future__ import annotations

import shutil
from dataclasses import fields
from typing import Any

from jaxstage_ext.compilation.persistent.cache_report import CacheReport, cache_report
from jaxstage_ext.panel.showing import display, marimo_display
from jaxstage_ext.program.kinds.session_view import CompileCacheProgram
from jaxstage_ext.views.compiled import compile_cache_forms


class ShownCacheReport(CacheReport):
    """What is known of JAX's persistent compilation cache.

    `.table()` and `.to_pandas()` have one row an entry; `.state`, `.tally` and `.limits` have the rest.
    """

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        if display.in_notebook():
            return display.mimebundle([CompileCacheProgram(self)])
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def _display_(self) -> Any:
        """What marimo shows: the live panel."""
        return marimo_display.shown([CompileCacheProgram(self)], self._repr_html_)

    def __repr__(self) -> str:
        return compile_cache_forms.text(self, shutil.get_terminal_size((100, 24)).columns)

    def _repr_html_(self) -> str:
        return compile_cache_forms.html(self)


def shown_cache_report(verify: bool = False, set_aside: bool = False) -> ShownCacheReport:
    """The cache now. Raises OSError where a damaged entry cannot be set aside."""
    made = cache_report(verify, set_aside)
    return ShownCacheReport(*(getattr(made, field.name) for field in fields(made)))
