"""What is said of names of dimensions and of splitting them."""

from __future__ import annotations

from jaxstage_ext.analysis.sharding.naming import naming_wording as wording

SAID = {
    "unknown, with the nearest": wording.unknown("batsh", ["batch", "heads"]),
    "unknown, of a program without dimensions": wording.unknown("batch", []),
    "two of one name": wording.twice("batch", "d1", "d3"),
    "not a name": wording.no_identifier("two words"),
    "the number of another": wording.is_number("d2"),
    "does not split evenly": wording.uneven(1000, 16),
    "splits over no count": wording.uneven(7, 0),
    "joined layers": wording.layers(12),
    "headline of a target": wording.headline(9, 8),
    "headline without a target": wording.headline(1, 1),
    "none": wording.none("loss"),
    "left out": wording.left_out(1),
    "several left out": wording.left_out(2),
    "the rest": [wording.NOT_ASKED, wording.UNKNOWN_LOOP, wording.REPEATED, wording.ONLY_RESULTS, wording.NO_LINE],
}  # fmt: skip
