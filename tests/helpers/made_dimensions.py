"""Made-up programs for names of dimensions: each array's axes as letters, one letter a class."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jaxstage_ext.analysis.sharding.naming.argument_roles import NamedLeaf, returned
from jaxstage_ext.analysis.sharding.naming.dimension_candidates import NamingSources

SIZES = {"b": 64, "t": 128, "v": 1000, "d": 32, "h": 96, "n": 4, "k": 8, "e": 16, "L": 3}


@dataclass(frozen=True)
class MadeClass:
    """A class of dimensions, as the analysis gives it."""

    number: int
    size: int | None
    arguments: tuple[tuple[int, int], ...]
    results: tuple[tuple[int, int], ...] = ()
    ops: tuple[int, ...] = ()
    repeated: bool = False
    meets: tuple[int, ...] = ()


def made(
    arguments: Mapping[str, str],
    results: Mapping[str, str] | None = None,
    sizes: Mapping[str, int] | None = None,
    ops: Sequence[tuple[str, str]] = (),
) -> tuple[list[MadeClass], NamingSources]:
    """Classes and sources of arguments such as {"params['up']['kernel']": "dh", "x": "bd"}.

    An axis is a letter and a number if need be. `ops` are operations with the classes they have.
    """
    sizes = SIZES | dict(sizes or {})
    axes = {name: _axes(text) for name, text in arguments.items()}
    out = {name: _axes(text) for name, text in (results or {}).items()}
    classes = list(dict.fromkeys(axis for side in (axes, out) for text in side.values() for axis in text))
    found = [
        MadeClass(
            number,
            sizes.get(axis, sizes.get(axis[0])),
            _places(axis, axes),
            _places(axis, out),
            tuple(at for at, (_, text) in enumerate(ops) if axis in _axes(text)),
            any(text.count(axis) > 1 for text in [*axes.values(), *out.values()]),
        )
        for number, axis in enumerate(classes)
    ]
    leaves, back = _leaves(axes, found, classes), _leaves(out, found, classes)
    names = tuple(name for name, _ in ops)
    return found, NamingSources(leaves, back, returned(leaves, back), op_names=names)


def _axes(text: str) -> list[str]:
    return re.findall(r"[A-Za-z]\d*", text)


def _places(axis: str, arrays: Mapping[str, Sequence[str]]) -> tuple[tuple[int, int], ...]:
    return tuple(
        (number, at) for number, text in enumerate(arrays.values()) for at, each in enumerate(text) if each == axis
    )


def _leaves(
    arrays: Mapping[str, Sequence[str]], found: Sequence[MadeClass], classes: Sequence[str]
) -> tuple[NamedLeaf, ...]:
    size = {axis: one.size or 0 for axis, one in zip(classes, found, strict=True)}
    return tuple(NamedLeaf(name, tuple(size[axis] for axis in text)) for name, text in arrays.items())
