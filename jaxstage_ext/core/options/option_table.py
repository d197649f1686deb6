"""XLA's flags beside what a call sets of them: the data of the flag browser."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jaxstage_ext.core.options import flag_values
from jaxstage_ext.core.options.xla_flags import Flag, Flags, installed


def of(given: Mapping[str, Any], known: Flags | None = None) -> dict[str, Any]:
    """The flags as plain JSON types, those that are set first, the rest by name.

    Each has "name", "type", "values" (of an enum), "default": what this process uses where nothing is set, null
    where unknown, and "set": what the call sets, null where it sets nothing. "type" is null for what is set but in no
    list, as libtpu's flags. "problem" says why there is no list; "" where there is.
    """
    known = known or installed()
    named = {name: known.by_name.get(name) for name in sorted(given)}
    rest = {name: flag for name, flag in sorted(known.by_name.items()) if name not in given}
    return {"problem": known.problem, "flags": [_row(name, flag, given) for name, flag in (named | rest).items()]}


def _row(name: str, flag: Flag | None, given: Mapping[str, Any]) -> dict[str, Any]:
    value = _text(given[name]) if name in given else None
    if flag is None:
        return {"name": name, "type": None, "values": [], "default": None, "set": value}
    return {
        "name": name,
        "type": flag.type + (" list" if flag.many else ""),
        "values": ["True", "False"] if flag.type == "bool" else list(flag.values),
        "default": flag.default,
        "set": value,
    }


def _text(value: Any) -> str:
    """As `flags` writes a default, so that the two can be compared."""
    (shown,) = flag_values.shown({"": value}).values()
    return f"{shown:.6g}" if isinstance(shown, float) else str(shown)
