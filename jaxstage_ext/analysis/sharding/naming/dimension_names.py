"""Dimensions by name: never two of one name, the same names each time, and the author's own where given."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from jaxstage_ext.analysis.sharding.naming import naming_wording as wording
from jaxstage_ext.analysis.sharding.naming.dimension_candidates import DimensionCandidates, NamingSources
from jaxstage_ext.analysis.sharding.naming.dimension_group import DimensionGroup, Member, groups

if TYPE_CHECKING:
    from jaxstage_ext.analysis.sharding.dimensions import DimensionClass


class UnknownDimension(ValueError):
    """A name that no dimension has, or that cannot be one; its text is one line."""


@dataclass(frozen=True)
class NamedDimension:
    """A dimension of a program as its author sees it.

    Attributes:
      name: a Python identifier that no other dimension of the program has.
      number: "d3": by which it can be named too, whatever its name; the order is that of the arguments.
      size: how many elements it has along each of its axes.
      classes: the numbers of its classes of dimensions; several where layers are joined.
      arguments: (argument, axis) of each axis that is of it, by the numbers of the module's arguments.
      results: the same of results.
      ops: the numbers of the operations that have it.
      repeated: whether it stands twice in one value.
    """

    name: str
    number: str
    size: int
    classes: tuple[int, ...]
    arguments: tuple[Member, ...]
    results: tuple[Member, ...]
    ops: tuple[int, ...]
    repeated: bool = False


def name_dimensions(classes: Sequence[DimensionClass], sources: NamingSources) -> tuple[NamedDimension, ...]:
    """The dimensions of a program's classes, in the order of its arguments."""
    found = groups(classes, sources.arguments, sources.op_names)
    names = _names(found, sources)
    return tuple(
        NamedDimension(name, f"d{at + 1}", one.size, one.numbers, one.arguments, one.results, one.ops, one.repeated)
        for at, (name, one) in enumerate(zip(names, found, strict=True))
    )


def _names(found: Sequence[DimensionGroup], sources: NamingSources) -> list[str]:
    """A name for each: its best candidate that no other wants as much, else its number, `d3`."""
    candidates = DimensionCandidates(found, sources)
    left = {at: candidates.of(at) for at in range(len(found))}
    names = {f"d{at + 1}": at for at in left}
    given: dict[int, str] = {}
    for depth in range(max(map(len, left.values()), default=0)):
        wanted: dict[str, list[int]] = {}
        for at, texts in left.items():
            if at not in given and depth < len(texts):
                wanted.setdefault(texts[depth], []).append(at)
        for name, askers in wanted.items():
            if len(askers) == 1 and name not in names:
                names[name], given[askers[0]] = askers[0], name
    return [given.get(at) or _numbered(at, left[at], names) for at in left]


def _numbered(at: int, texts: Sequence[str], names: dict[str, int]) -> str:
    """The best candidate with a number behind it; `d3` where there is no candidate."""
    if not texts:
        return f"d{at + 1}"
    name = next(name for count in range(1, at + 3) if (name := texts[0] + f"_{count}" * (count > 1)) not in names)
    names[name] = at
    return name


def renamed(dimensions: Sequence[NamedDimension], names: Mapping[str, str]) -> tuple[NamedDimension, ...]:
    """The dimensions with the author's names for some, `{"d3": "hidden"}`: by what they are called, or by number.

    Raises UnknownDimension for a name that no dimension has, that two would have, or that is not an identifier.
    """
    by_name = {one.name: one for one in dimensions} | {one.number: one for one in dimensions}
    wanted: dict[str, str] = {}
    for old, new in names.items():
        if old not in by_name:
            raise UnknownDimension(wording.unknown(old, near(old, dimensions)))
        wanted[by_name[old].number] = _checked(new, by_name[old], by_name)
    made = tuple(replace(one, name=wanted.get(one.number, one.name)) for one in dimensions)
    seen: dict[str, NamedDimension] = {}
    for one in made:
        if (other := seen.setdefault(one.name, one)) is not one:
            raise UnknownDimension(wording.twice(one.name, other.number, one.number))
    return made


def _checked(name: str, one: NamedDimension, by_name: Mapping[str, NamedDimension]) -> str:
    """A new name. Raises UnknownDimension for what cannot be one."""
    if not isinstance(name, str) or not name.isidentifier():
        raise UnknownDimension(wording.no_identifier(name))
    holder = by_name.get(name)
    if holder is not None and holder is not one and name == holder.number:
        raise UnknownDimension(wording.is_number(name))
    return name


def near(name: str, dimensions: Sequence[NamedDimension]) -> list[str]:
    """The names most like one that no dimension has; all where there are few."""
    known = [one.name for one in dimensions]
    return difflib.get_close_matches(name, known, n=3, cutoff=0.5) or known[:8]
