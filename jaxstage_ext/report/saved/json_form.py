"""JSON that someone else may have written: read within bounds, and checked against a form.

A form is what annotations say: a TypedDict, `list[str]`, `float | None`, `Literal["a", "b"]`.
"""

from __future__ import annotations

import functools
import json
import math
import types
from collections.abc import Mapping
from typing import Any, Literal, NotRequired, Required, Union, get_args, get_origin, get_type_hints, is_typeddict

LONGEST_QUOTE = 80
_LARGEST, _LARGEST_NUMBER = 1 << 62, 1e30
"""Of whole numbers, and of others."""
_DEEPEST = 12
"""Levels of what may be anything."""
_NAMES = {str: "text", int: "a whole number", float: "a number", bool: "true or false", types.NoneType: "null"}


class BadForm(ValueError):
    """JSON that is not of the form that it must have; the message is one line."""


def quoted(value: object) -> str:
    """A value in at most 80 characters of one line."""
    text = ascii(value[: LONGEST_QUOTE + 1]) if isinstance(value, str) else _shown(value)
    return text if len(text) <= LONGEST_QUOTE else f"{text[: LONGEST_QUOTE - 1]}…"


def _shown(value: object) -> str:
    if isinstance(value, Mapping | list):
        return f"{'an object' if isinstance(value, Mapping) else 'a list'} of {len(value):,}"
    is_long = isinstance(value, int) and abs(value) >= 10**LONGEST_QUOTE
    return f"a number of more than {LONGEST_QUOTE} digits" if is_long else ascii(value)


def read(text: str, most_containers: int) -> Any:
    """The value of JSON text. Raises BadForm for what no report of ours holds, however deep or large."""
    if text.count("{") + text.count("[") > most_containers:
        raise BadForm(f"it has more than {most_containers:,} lists and objects")
    try:
        return json.loads(text, parse_constant=_not_finite, parse_float=_finite, object_pairs_hook=_without_duplicates)
    except RecursionError:
        raise BadForm("it is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise BadForm(f"it is not JSON: {error.msg} at character {error.pos:,}") from None


def _not_finite(text: str) -> Any:
    raise BadForm(f"it holds {text}, which is not a number of JSON")


def _finite(text: str) -> float:
    if not math.isfinite(number := float(text)):
        raise BadForm(f"it holds the number {quoted(text)}, which is too large")
    return number


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        name = next(name for at, (name, _) in enumerate(pairs) if any(name == other for other, _ in pairs[:at]))
        raise BadForm(f"an object names {quoted(name)} twice")
    return values


def checked(value: Any, form: Any, where: str) -> Any:
    """The value, which is of the form; of objects, what the form names. Raises BadForm, which names the place."""
    origin = get_origin(form)
    if is_typeddict(form):
        return _checked_object(value, form, where)
    if origin in (Union, types.UnionType):
        return _checked_any_of(value, get_args(form), where)
    if origin is list:
        [entry_form] = get_args(form)
        return [checked(entry, entry_form, f"{where}[{at}]") for at, entry in enumerate(_a(list, value, where))]
    if origin in (dict, Mapping):
        entries, entry_form = _a(dict, value, where), get_args(form)[1]
        return {name: checked(entry, entry_form, f"{where}.{name[:40]}") for name, entry in entries.items()}
    if origin is Literal:
        return _checked_literal(value, get_args(form), where)
    return _checked_shallow(value, where) if form is Any else _checked_scalar(value, form, where)


def _a(kind: type[Any], value: Any, where: str) -> Any:
    if not isinstance(value, kind):
        raise BadForm(f"{where} must be {'a list' if kind is list else 'an object'}, not {quoted(value)}")
    return value


@functools.cache
def _fields(form: Any) -> tuple[Mapping[str, Any], frozenset[str]]:
    """The fields of a TypedDict and the required ones, of which `__required_keys__` knows none where hints are text."""
    marked = get_type_hints(form, include_extras=True)
    is_required = {name: get_origin(field) is Required for name, field in marked.items()}
    if form.__total__:
        is_required = {name: get_origin(field) is not NotRequired for name, field in marked.items()}
    return get_type_hints(form), frozenset(name for name, required in is_required.items() if required)


def _checked_object(value: Any, form: Any, where: str) -> dict[str, Any]:
    given: dict[str, Any] = _a(dict, value, where)
    fields, required = _fields(form)
    if missing := sorted(required - given.keys()):
        raise BadForm(f"{where} has no {missing[0]!r}")
    return {name: checked(given[name], field, f"{where}.{name}") for name, field in fields.items() if name in given}


def _checked_any_of(value: Any, forms: tuple[Any, ...], where: str) -> Any:
    if value is None and types.NoneType in forms:
        return None
    some = [form for form in forms if form is not types.NoneType]
    if len(some) == 1:
        return checked(value, some[0], where)
    for form in some:
        if _is_of(value, form):
            return checked(value, form, where)
    raise BadForm(
        f"{where} must be {' or '.join(_NAMES.get(form, 'an object') for form in forms)}, not {quoted(value)}"
    )


def _checked_literal(value: Any, values: tuple[Any, ...], where: str) -> Any:
    if not isinstance(value, str) or value not in values:
        raise BadForm(f"{where} must be {' or '.join(map(repr, values))}, not {quoted(value)}")
    return value


def _checked_scalar(value: Any, form: Any, where: str) -> Any:
    if not _is_of(value, form):
        raise BadForm(f"{where} must be {_NAMES[form]}, not {quoted(value)}")
    return value


def _is_of(value: Any, form: Any) -> bool:
    if form is float:
        return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _LARGEST_NUMBER
    if form is int:
        return isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LARGEST
    return isinstance(value, dict if is_typeddict(form) else form)


def _checked_shallow(value: Any, where: str) -> Any:
    if not is_shallow(value):
        raise BadForm(f"{where} is nested too deeply")
    return value


def is_shallow(value: Any) -> bool:
    """Whether a value is no deeper than what any of our forms holds, so that it can be quoted and written."""
    level = [value]
    for _ in range(_DEEPEST):
        level = [entry for node in level if isinstance(node, dict | list) for entry in _entries(node)]
    return not level


def _entries(node: Any) -> Any:
    return node.values() if isinstance(node, dict) else node
