"""What `%config JAXStage` shows: only settings that act."""

from __future__ import annotations

from traitlets import Int
from traitlets.config import SingletonConfigurable


class JAXStage(SingletonConfigurable):
    """Settings of JAXStage, read with `JAXStage.instance()` at the moment they are needed."""

    static_lines = Int(
        40, min=0, max=1000, help="Lines of each stage that are kept in the saved output of a cell (text and HTML)."
    ).tag(config=True)
    text_width = Int(100, min=40, max=500, help="Columns of the panel in a terminal and in text/plain.").tag(
        config=True
    )
