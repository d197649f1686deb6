"""The texts of errors, without what depends on versions and machines."""

from __future__ import annotations

import re
from collections.abc import Callable

import jax

_OURS = (
    (re.compile(r"\bjaxlib\._jax\.Array"), "Array"),
    (re.compile(r"(lists all|none of XLA's) \d+"), r"\1 N"),
    (re.compile(r"(one of \w+, \w+, \w+, ).*?(?=; |, not |$)"), r"\1…"),
    (re.compile(r"(<module 'jax'|is not found in mesh|implies that|is only valid for).*"), r"\1 …"),
    (re.compile(r"(unknown method [^;]*; there are \w+, ).*"), r"\1…"),
    (re.compile(rf"\bJAX {re.escape(jax.__version__)}"), "JAX N"),
)


def error_of(ask: Callable[[], object]) -> str:
    """What is said where something is refused. Raises AssertionError where it is not."""
    try:
        ask()
    except Exception as error:
        return settled(f"{type(error).__name__}: {error}")
    raise AssertionError("nothing was refused")


def settled(text: str) -> str:
    """The text with … for what JAX says in its own words, and N for numbers of another version."""
    for pattern, same in _OURS:
        text = pattern.sub(same, text)
    return text
