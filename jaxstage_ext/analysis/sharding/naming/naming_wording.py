"""What is said of names of dimensions."""

from __future__ import annotations

from collections.abc import Sequence

from jaxstage_ext.report.text.bounded_repr import bounded_repr


def unknown(name: object, near: Sequence[str]) -> str:
    """Of a name that no dimension has."""
    known = f"the nearest are {', '.join(near)}" if near else "the program has none"
    return f"no dimension is called {bounded_repr(name, 60)}; {known}"


def twice(name: str, first: str, second: str) -> str:
    """Of a name that two dimensions would have."""
    return f"{bounded_repr(name, 60)} would name both {first} and {second}; each dimension needs a name of its own"


def no_identifier(name: object) -> str:
    """Of a name that cannot be typed."""
    return f"{bounded_repr(name, 60)} is not a name such as hidden: letters, digits and _ only"


def is_number(name: str) -> str:
    """Of a name that is the number of another dimension."""
    return f"{name} is the number of another dimension; use another name"


NOT_ASKED = "it is not computed yet"
UNKNOWN_LOOP = "a collective is in a loop of unknown length"
REPEATED = "It stands twice in one array, of which only one axis can be split."
ONLY_RESULTS = "Only results have it."


def uneven(size: int, devices: int) -> str:
    """Why splitting a dimension alone has no cost: it cannot be split so."""
    over = (
        f"do not split evenly over {devices:,} devices" if devices else "split evenly over neither 8, 4 nor 2 devices"
    )
    return f"its {size:,} elements {over}"


def layers(count: int) -> str:
    """Of a dimension that joins those of several layers."""
    return f"It joins {count:,} dimensions of equal paths but for numbers; they could be split apart."


def headline(count: int, devices: int) -> str:
    """What heads the dimensions of a program."""
    over = f"over {devices:,} devices" if devices > 1 else "over 8 devices, or 4 or 2 where 8 do not divide it"
    noun = "named dimension" if count == 1 else "named dimensions"
    return f"{count:,} {noun}. Each is split alone {over}, everything else replicated."


def none(name: str) -> str:
    """Of a program without dimensions."""
    return f"{name} has no arguments or results with an axis to split."


def left_out(count: int) -> str:
    """Of dimensions that cannot be listed."""
    noun = "dimension is" if count == 1 else "dimensions are"
    return f"{count:,} more {noun} not listed: axes of different sizes are tied together there."


NO_LINE = "no line of your code made it"
