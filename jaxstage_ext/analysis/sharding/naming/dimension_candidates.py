"""Names that a dimension could have, the best first."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from jaxstage_ext.analysis.sharding.naming.argument_roles import NamedLeaf
from jaxstage_ext.analysis.sharding.naming.axis_role import AxisRole, role
from jaxstage_ext.analysis.sharding.naming.dimension_group import DimensionGroup, Member

_FIXED = {
    AxisRole.VOCABULARY: "vocab",
    AxisRole.EXPERTS: "experts",
    AxisRole.HEADS: "heads",
    AxisRole.EMBEDDED: "embed",
    AxisRole.POSITION: "positions",
}
_NUMBERS = re.compile(r"\d+")
_NOT_OF_A_NAME = re.compile(r"\W+")
LONGEST = 40
"""Characters of a name."""


@dataclass(frozen=True)
class NamingSources:
    """What names are made of.

    Attributes:
      arguments: those of the module, in order.
      results: those of the module, in order.
      parameters: the numbers of the arguments that the program updates.
      letters: by the number of a class the letters that the author's einsum equations have for it, how often each.
      given: names that the author's annotations have for axes of arguments.
      op_names: the name of each operation.
      rows: the numbers of the classes along which updated arguments are a batch: chains, members of an ensemble.
      simulated: the numbers of the arguments that are the state of a simulation.
    """

    arguments: Sequence[NamedLeaf]
    results: Sequence[NamedLeaf]
    parameters: Collection[int]
    letters: Mapping[int, Counter[str]] = field(default_factory=dict)
    given: Mapping[Member, str] = field(default_factory=dict)
    op_names: Sequence[str] = ()
    rows: Collection[int] = ()
    simulated: Collection[int] = ()


class DimensionCandidates:
    """The candidates of all groups of a program."""

    def __init__(self, groups: Sequence[DimensionGroup], sources: NamingSources) -> None:
        self._groups, self._sources = groups, sources
        self._group_of = {member: at for at, group in enumerate(groups) for member in group.arguments}
        self._batch = _batch(groups, sources)

    def of(self, number: int) -> list[str]:
        """The candidates of a group, the best first, each once."""
        names = (_written(name) for name in self._all(number))
        return [name for name in dict.fromkeys(names) if name and name.isidentifier()]

    def _all(self, number: int) -> Iterator[str]:
        group, sources = self._groups[number], self._sources
        yield from dict.fromkeys(sources.given[one] for one in group.arguments if one in sources.given)
        yield from _by_letters(group, sources.letters)
        if number == self._batch:
            yield "batch"
        if not set(sources.rows).isdisjoint(group.numbers):
            yield from self._of_rows(group)
            return
        if group.is_stack:
            yield "layers"
        roles = {one: self._role(one) for one in group.arguments if one[0] in sources.parameters}
        yield from (name for kind, name in _FIXED.items() if kind in roles.values())
        yield from self._by_paths(roles)
        yield from self._by_axes(group)

    def _of_rows(self, group: DimensionGroup) -> Iterator[str]:
        """Of one array its axis: it is no feature that a layer makes. Of several they are an ensemble."""
        updated = {leaf for leaf, _ in group.arguments} & set(self._sources.parameters)
        if len(updated) > 1:
            yield "ensemble"
        yield from self._by_axes(group)

    def _role(self, member: Member) -> AxisRole:
        return role(self._sources.arguments, member, self._group_of)

    def _by_paths(self, roles: Mapping[Member, AxisRole]) -> Iterator[str]:
        """Of the layer that makes the features, then of one that reads them, then of any."""
        forms = ((AxisRole.OUT, "{}"), (AxisRole.IN, "{}_in"), (AxisRole.VECTOR, "{}"), (AxisRole.OTHER, "{}_axis{}"))
        for kind, form in forms:
            of_kind = [one for one, its in roles.items() if its is kind]
            for deep in (1, 2, 3):
                for leaf, axis in of_kind:
                    yield form.format(self._words(leaf, deep, [other for other, _ in of_kind]), axis)

    def _words(self, leaf: int, deep: int, others: Sequence[int]) -> str:
        """The last words of a leaf's path; without the numbers in which those of other layers differ."""
        leaves = self._sources.arguments
        own = leaves[leaf].path
        words = own.words[-deep:]
        alike = [leaves[at].path.words[-deep:] for at in others if leaves[at].path.pattern == own.pattern]
        kept = (
            word if all(one[at] == word for one in alike) else _NUMBERS.sub("", word) for at, word in enumerate(words)
        )
        return "_".join(word.strip("_") for word in kept)

    def _by_axes(self, group: DimensionGroup) -> Iterator[str]:
        sources = self._sources
        for leaf, axis in sorted(group.arguments, key=lambda one: one[0] in sources.parameters):
            yield f"{sources.arguments[leaf].path.layer}_axis{axis}"
        for leaf, axis in group.results:
            yield f"{sources.results[leaf].path.layer}_axis{axis}"


def _by_letters(group: DimensionGroup, letters: Mapping[int, Counter[str]]) -> Iterator[str]:
    total: Counter[str] = Counter()
    for number in group.numbers:
        total.update(letters.get(number, {}))
    yield from (letter for letter, _ in sorted(total.items(), key=lambda one: (-one[1], one[0])))


def _batch(groups: Sequence[DimensionGroup], sources: NamingSources) -> int:
    """The group that is the batch: the rows of carried state, or else the first axis of arguments that are no
    parameters, and in no parameter; or -1.
    """
    others = {*sources.parameters, *sources.simulated}

    def is_of_data(group: DimensionGroup) -> bool:
        return bool(group.arguments) and not any(leaf in others for leaf, _ in group.arguments)

    of_data = [at for at, group in enumerate(groups) if is_of_data(group)]
    carried = [at for at in of_data if not set(sources.rows).isdisjoint(groups[at].numbers)]
    found = carried or [at for at in of_data if not any(axis for _, axis in groups[at].arguments)]
    return max(found, key=lambda at: (len(groups[at].ops), len(groups[at].arguments), -at), default=-1)


def _written(name: str) -> str:
    """A name as one can type it."""
    return _NOT_OF_A_NAME.sub("_", name).strip("_")[:LONGEST]
