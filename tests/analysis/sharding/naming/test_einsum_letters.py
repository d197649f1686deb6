"""The letters of einsum equations, from rules of matrix products written by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from jaxstage_ext.analysis.sharding.naming.einsum_letters import einsum_letters
from jaxstage_ext.ir.partitioning.sharding_rule import ShardingRule
from tests.helpers.made_dimensions import MadeClass

USER, LIBRARY = (
    (("/home/me/model.py", 3),),
    (("/env/site-packages/flax/linen/attention.py", 9), ("/home/me/model.py", 3)),
)


def product(scope: str, left: str, right: str, made: str, frames: Any = USER) -> tuple[Any, str]:
    """A matrix product, each dimension by a letter of ours, and our letters by the number of their factor."""
    ours = "".join(dict.fromkeys(left + right))
    place = {letter: number for number, letter in enumerate(ours)}
    operands, results = ([tuple((place[one],) for one in text) for text in texts] for texts in ((left, right), (made,)))
    summed = frozenset(place[one] for one in ours if one not in made)
    rule = ShardingRule(tuple(2 for _ in ours), tuple(operands), tuple(results), summed)
    return SimpleNamespace(scope=scope, rule=rule, frames=frames, operands=(0, 1), is_matmul=True), ours


def letters(scope: str, left: str, right: str, made: str, frames: Any = USER) -> dict[str, str]:
    """Our letters with those of the equation."""
    op, ours = product(scope, left, right, made, frames)
    classes: Any = [MadeClass(number, 2, (), factors=((0, number),)) for number in range(len(ours))]
    found = einsum_letters(SimpleNamespace(ops=[op]), classes)  # type: ignore[arg-type]
    return {ours[number]: "".join(counted) for number, counted in found.items()}


@pytest.mark.parametrize(
    ("scope", "operands", "expected"),
    [
        ("jit(f)/bd,df->bf/dot_general", ("xy", "yz", "xz"), {"x": "b", "y": "d", "z": "f"}),
        ("jit(f)/jvp(bd,df->bf)/dot_general", ("xy", "yz", "xz"), {"x": "b", "y": "d", "z": "f"}),
        # in the other order, before a transpose
        ("jit(f)/bd,df->bf/dot_general", ("yz", "xy", "zx"), {"x": "b", "y": "d", "z": "f"}),
        # both orders fit; the result is spelt by one of them
        ("jit(f)/bqd,bkd->bqk/dot_general", ("nqs", "nks", "nqk"), {"n": "b", "q": "q", "k": "k", "s": "d"}),
        ("jit(f)/...d,df->...f/dot_general", ("uvy", "yz", "uvz"), {"y": "d", "z": "f"}),
        # neither order is certain: a transpose follows
        ("jit(f)/bi,bj->jbi/dot_general", ("xp", "xq", "xpq"), {}),
        ("jit(f)/transpose(jvp(bd,df->bf))/dot_general", ("xz", "yz", "xy"), {}),
        ("jit(f)/dot_general", ("xy", "yz", "xz"), {}),
        ("jit(f)/a,b,c->abc/dot_general", ("x", "y", "xy"), {}),
    ],
)  # fmt: skip
def test_the_letters_of_a_product(scope: str, operands: tuple[str, str, str], expected: dict[str, str]) -> None:
    assert letters(scope, *operands) == expected


def test_the_letters_of_a_library_are_not_the_authors() -> None:
    assert letters("jit(f)/bd,df->bf/dot_general", "xy", "yz", "xz", LIBRARY) == {}
    assert letters("jit(f)/bd,df->bf/dot_general", "xy", "yz", "xz", ()) == {}
