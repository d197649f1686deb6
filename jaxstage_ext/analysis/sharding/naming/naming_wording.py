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
