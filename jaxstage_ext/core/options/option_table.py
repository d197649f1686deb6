"""XLA's flags, and what a call sets them to: the data of the options tab."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jaxstage_ext.core.options import flag_values
from jaxstage_ext.core.options.xla_flags import Flag, Flags, installed


def of(given: Mapping[str, Any], known: Flags | None = None) -> dict[str, Any]:
    """The flags as JSON types: first those that the call sets, then the others by name.

    Each flag has "name", "type", "values" (of an enum), "default" (this process's default, null where unknown) and
    "set" (the call's value, null where it sets none). "type" is null for a flag that is not in jaxlib's list, such as
    libtpu's. "problem" says why there is no list, and is empty otherwise.
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
    """The value in the form of `xla_flags` defaults, so that the two can be compared."""
    (shown,) = flag_values.shown({"": value}).values()
    return f"{shown:.6g}" if isinstance(shown, float) else str(shown)
