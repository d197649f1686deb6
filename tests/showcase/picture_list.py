"""Every picture of a notebook's panel. What a newcomer wants to see of each notebook comes first."""

from __future__ import annotations

from tests.showcase.picture import Picture

PICTURES = (
    Picture(
        "first_look",
        "01_first_look",
        "first-look-3",
        "The Code tab",
        "f'{softmax}'",
    ),
    Picture(
        "findings",
        "09_what_should_i_change",
        "change-04",
        "The Findings tab of a training step",
        "ins.findings[0].text",
        view="findings",
    ),
)
