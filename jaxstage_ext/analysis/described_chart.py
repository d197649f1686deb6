"""Figures that leave a sentence where nothing draws them: nbconvert and code hosts drop plotly's own form in silence.

It imports plotly, so import it where a figure is made.
"""

from __future__ import annotations

import re
import warnings
from html import unescape
from typing import Any

from jaxstage_ext.report.text import markup

with warnings.catch_warnings():  # plotly adds to the user's filters when it is imported, and with its first figure
    from plotly import graph_objects
    from plotly.graph_objects import Figure

    Figure()

__all__ = ["DescribedFigure", "graph_objects"]
_PLOTLY = "application/vnd.plotly.v1+json"


class DescribedFigure(Figure):  # type: ignore[misc]
    """A `plotly.graph_objects.Figure` that a notebook shows with its title in words beside it."""

    def _repr_mimebundle_(self, *include: Any, **more: Any) -> dict[str, Any]:
        bundle = dict(super()._repr_mimebundle_(*include, **more) or {})
        if not _is_drawn_by_the_front_end(bundle):
            return bundle
        text = self._in_words()
        return bundle | {"text/html": markup.paragraph(markup.said(text)), "text/plain": text}

    @property
    def _ipython_display_(self) -> Any:
        """Plotly's own display, which knows its bundle alone, for its renderers that draw by themselves."""
        bundle = super()._repr_mimebundle_()
        return None if _is_drawn_by_the_front_end(bundle) else super()._ipython_display_

    def _in_words(self) -> str:
        title = " ".join(unescape(re.sub("<[^<>]*>", " ", self.layout.title.text or "A chart")).split())
        return (
            f"{title.rstrip('.')}. JupyterLab, Notebook 7 and VS Code draw this plotly figure; "
            "its .write_html('figure.html') makes a page of it."
        )


def _is_drawn_by_the_front_end(bundle: dict[str, Any] | None) -> bool:
    return set(bundle or {}) == {_PLOTLY}
