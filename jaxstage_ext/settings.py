"""What `%config JAXStage` shows: only settings that act."""

from __future__ import annotations

from traitlets import Int
from traitlets.config import SingletonConfigurable


class JAXStage(SingletonConfigurable):
    """Settings of JAXStage; `%config JAXStage.most_panels = 8` changes one."""

    most_panels = Int(
        64, min=1, max=1000, help="Live panels a kernel keeps; beyond it the oldest turn into their static form."
    ).tag(config=True)
