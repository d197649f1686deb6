"""Why layouts of a program cannot be searched."""

from wordings import constants

from jaxstage_ext.program.searching import refusal_wording as wording

SAID: dict[str, object] = {
    **constants(wording),
    "nothing to split": wording.nothing_to_split(8),
    "one device": [wording.one_device("local"), wording.one_device("v5e")],
    "mesh of another size": wording.devices_of_mesh("data=4", 4, "v5e:2x4", 8),
    "axis": wording.no_such_axis("model", "data=8"),
    "argument": [wording.no_such_argument("y", ["x"]), wording.no_such_argument("y", [])],
    "no spec": wording.no_spec("x", "'data'"),
    "too many entries": wording.too_many_entries("x", "P('data', None)", 1),
    "not divided": wording.not_divided("x", 0, 6, 4),
    "explicit axes": wording.names_explicit_axes("no axis d"),
    "all lost": wording.all_lost("the partitioner died"),
}
