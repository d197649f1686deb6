"""What a search of layouts cannot be asked for."""

from wordings import constants

from jaxstage_ext.program.searching import choice_wording as wording

SAID: dict[str, object] = {
    **constants(wording),
    "executor": wording.executor("threads"),
    "keep": wording.not_by_name("keep", "P('data')", '{"x": P("data")}'),
    "count": [wording.count("most_axes", 0, 1), wording.count("confirm", -1, 0)],
    "effort": wording.not_among("effort", "high", ["low", "default"]),
    "dimension": [wording.no_such_dimension("hidden", ["batch", "up"]), wording.no_such_dimension("hidden", [])],
    "layout": wording.no_such_layout(99, 12),
}
