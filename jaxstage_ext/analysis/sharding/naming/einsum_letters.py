"""The letters that the author's einsum equations give to dimensions.

JAX names the operations of `jnp.einsum` by its equation, "jit(step)/jvp(bsd,dh->bsh)/dot_general". One with two
operands is one matrix product, of these in either order, before a transpose: the rule of the product tells which
letters are summed over, and so which operand is which. The backward pass multiplies other arrays and is left out, and
so are the equations of libraries, whose letters are not the author's.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from jaxstage_ext.ir.partitioning.partitionable_module import PartitionableModule, PartitionOp
from jaxstage_ext.ir.partitioning.sharding_rule import ShardingRule
from jaxstage_ext.ir.sources.source import is_outside, is_user

if TYPE_CHECKING:
    from jaxstage_ext.analysis.sharding.dimensions import DimensionClass

_EQUATION = re.compile(r"(?:^|[/(])(?P<operands>[A-Za-z.]*,[A-Za-z.]*)->(?P<result>[A-Za-z.]*)(?=[/)]|$)")
_DOTS = "..."
_BACKWARD = "transpose("


def einsum_letters(module: PartitionableModule, classes: Sequence[DimensionClass]) -> dict[int, Counter[str]]:
    """By the number of a class how often the equations have each letter for it."""
    class_of = {factor: one.number for one in classes for factor in one.factors}
    found: dict[int, Counter[str]] = defaultdict(Counter)
    for at, op in enumerate(module.ops):
        for factor, letter in _letters(op).items():
            if (at, factor) in class_of:
                found[class_of[at, factor]][letter] += 1
    return dict(found)


def _letters(op: PartitionOp) -> Mapping[int, str]:
    """The letters of the factors of a matrix product; nothing where they are not certain."""
    equation = _equation(op.scope) if _is_authors(op) else None
    if equation is None or op.rule is None or not op.is_matmul or len(op.operands) != 2:
        return {}
    operands, result = equation
    fitting = list(_fitting(op.rule, operands, result))
    spelt = [named for named in fitting if _spells(op.rule, named, result)]
    certain = spelt if len(fitting) > 1 else fitting
    return certain[0] if len(certain) == 1 else {}


def _is_authors(op: PartitionOp) -> bool:
    """Whether the innermost frame outside of JAX is the author's."""
    return bool(op.frames) and is_user(op.frames[0][0]) and not is_outside(op.frames[0][0])


def _equation(scope: str) -> tuple[tuple[str, str], str] | None:
    """(letters of the two operands, those of the result) of the innermost equation of a forward operation's scope."""
    found = list(_EQUATION.finditer(scope))
    if not found or _BACKWARD in scope:
        return None
    first, second = found[-1]["operands"].split(",")
    return (first, second), found[-1]["result"]


def _fitting(rule: ShardingRule, operands: tuple[str, str], result: str) -> Iterator[Mapping[int, str]]:
    """The ways to give the letters to the factors: in the order of the operands or in the other one."""
    for pair in dict.fromkeys((operands, operands[::-1])):
        named = _assigned(rule, pair)
        if named is None:
            continue
        summed = {letter for factor, letter in named.items() if factor in rule.reduction}
        if _DOTS in result or summed == set(named.values()) - set(result):
            yield named


def _spells(rule: ShardingRule, named: Mapping[int, str], result: str) -> bool:
    """Whether the letters of the product's result are those that were asked for, so that no transpose follows."""
    return "".join(named.get(factor, "") for factors in rule.results[0] for factor in factors) == result.replace(
        _DOTS, ""
    )


def _assigned(rule: ShardingRule, texts: Sequence[str]) -> dict[int, str] | None:
    """Each factor's letter; None where one factor would have two, or one letter two factors."""
    named: dict[int, str] = {}
    for text, dimensions in zip(texts, rule.operands, strict=True):
        letters = _by_dimension(text, len(dimensions))
        if letters is None:
            return None
        for letter, factors in zip(letters, dimensions, strict=True):
            if letter and len(factors) == 1 and named.setdefault(factors[0], letter) != letter:
                return None
    return named if len(set(named.values())) == len(named) else None


def _by_dimension(text: str, rank: int) -> list[str] | None:
    """A letter for each dimension, "" for those that the dots stand for; None where the ranks differ."""
    before, dots, after = text.partition(_DOTS)
    if not dots:
        return list(text) if len(text) == rank else None
    between = rank - len(before) - len(after)
    return None if between < 0 else [*before, *[""] * between, *after]
