"""Strings on which a regular expression may take more than linear time, drawn from the expression itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from re import _parser  # type: ignore[attr-defined]
from typing import Any, AnyStr

_REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
_CHARACTERS = "a0 1x_([{<\"'.,:%@#=-/\\\n\t;"
_PLAIN = tuple("a0 _([{<%\"'\\\t=.:,-@/")
_MANY = 8
"""Repeats of more than that may be pumped."""


def strings(pattern: AnyStr, flags: int, length: int) -> Iterator[AnyStr]:
    """Texts of that many characters: plain ones, beginnings of a match, and each repeat after what precedes it."""
    parsed = _parser.parse(pattern, flags)
    for before, pump, after in sorted(_recipes(parsed)):
        text = (before + pump * (length // len(pump)))[:length] + after
        yield text.encode("latin1", "replace") if isinstance(pattern, bytes) else text


def _recipes(parsed: Any) -> set[tuple[str, str, str]]:
    """(before, what is repeated, after)."""
    whole = _match(parsed)
    recipes = {("", pump, "") for pump in (*_PLAIN, *(whole[:end] for end in range(1, len(whole) + 1)))}
    for before, pump in _pumps(parsed, ""):
        for repeated in {pump, "a", " ", "0"}:
            recipes |= {(before, repeated, ""), (before, repeated, "\0"), (f"{before} ", repeated, "\0")}
            recipes.add(("", before + repeated, ""))
        recipes.add((before, pump + whole[-1:], "\0"))
    return recipes


def _pumps(parsed: Any, before: str) -> Iterator[tuple[str, str]]:
    """Each repeat: what a match has before it, and what it repeats."""
    for operation, argument in parsed:
        name = str(operation)
        if name in _REPEATS:
            _, most, inner = argument
            if most > _MANY and (pump := _match(inner)):
                yield before, pump
            yield from _pumps(inner, before)
        elif name in ("SUBPATTERN", "ATOMIC_GROUP"):
            yield from _pumps(argument[3] if name == "SUBPATTERN" else argument, before)
        elif name == "BRANCH":
            for branch in argument[1]:
                yield from _pumps(branch, before)
        before += _match([(operation, argument)])


def _match(parsed: Any) -> str:
    """A short text that it matches."""
    return "".join(_match_of(str(operation), argument) for operation, argument in parsed)


def _match_of(name: str, argument: Any) -> str:
    if name == "LITERAL":
        return chr(argument)
    if name == "NOT_LITERAL":
        return "a" if argument != ord("a") else "b"
    if name == "IN":
        return _member(argument)
    if name in _REPEATS:
        return _match(argument[2]) * max(argument[0], 1)
    if name in ("SUBPATTERN", "ATOMIC_GROUP"):
        return _match(argument[3] if name == "SUBPATTERN" else argument)
    return _match(argument[1][0]) if name == "BRANCH" else "a" if name == "ANY" else ""


def _member(argument: Any) -> str:
    """A character of a class, one that patterns often have where it may be."""
    characters = re.compile(_class(argument))
    return next(c for c in (*_CHARACTERS, *map(chr, range(0x3000))) if characters.match(c))


def _class(argument: Any) -> str:
    """The class as an expression once more."""
    categories = {
        "DIGIT": r"\d",
        "NOT_DIGIT": r"\D",
        "SPACE": r"\s",
        "NOT_SPACE": r"\S",
        "WORD": r"\w",
        "NOT_WORD": r"\W",
    }
    parts = []
    for operation, value in argument:
        kind = str(operation)
        if kind == "NEGATE":
            parts.append("^")
        elif kind == "LITERAL":
            parts.append(re.escape(chr(value)))
        elif kind == "RANGE":
            parts.append(f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}")
        else:
            parts.append(categories[str(value).removeprefix("CATEGORY_")])
    return f"[{''.join(parts)}]"
