"""What alone differs between two StableHLO texts, where it is one of the usual things: a constant, or an address."""

from __future__ import annotations

import re
from collections.abc import Sequence

_CONSTANT = re.compile(r"dense<([^<>]*)>")
_ADDRESS = re.compile(r"\b\d{8,20}\b|0x[0-9a-fA-F]{6,16}")
_CALL = "custom_call"
_LONGEST = 40


def constants(diff: Sequence[str]) -> list[tuple[str, str]]:
    """(before, now) of the constants that differ, where nothing else does; else none."""
    found = []
    for was, now in _pairs(diff):
        before, after = _CONSTANT.findall(was), _CONSTANT.findall(now)
        if _CONSTANT.sub("dense<>", was) != _CONSTANT.sub("dense<>", now) or len(before) != len(after):
            return []
        found += [pair for pair in zip(before, after, strict=True) if pair[0] != pair[1]]
    return [(_cut(before), _cut(now)) for before, now in found]


def is_address(diff: Sequence[str]) -> bool:
    """Whether nothing differs but numbers in custom calls that look like the addresses of Python objects."""
    pairs = _pairs(diff)
    return bool(pairs) and all(_CALL in was and _ADDRESS.sub("", was) == _ADDRESS.sub("", now) for was, now in pairs)


def _pairs(diff: Sequence[str]) -> list[tuple[str, str]]:
    """The lines that stand for each other; none where one side has more."""
    was, now = ([line[1:] for line in diff if line[:1] == sign] for sign in "-+")
    return list(zip(was, now, strict=True)) if len(was) == len(now) else []


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
