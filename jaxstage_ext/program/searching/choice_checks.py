"""What a search cannot be asked for, found before anything is computed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from jaxstage_ext.core.call import has_method
from jaxstage_ext.program.searching import choice_wording as wording
from jaxstage_ext.report.deliberate_error import DeliberateError
from jaxstage_ext.search import search_wording


class UnusableChoice(DeliberateError, ValueError):
    """A choice that a search cannot follow; the message is one line."""


class NoSuchLayout(DeliberateError, IndexError):
    """A number that no layout of a search has; the message is one line."""


def check_budget(seconds: Any, executor: Any) -> None:
    """Raise UnusableChoice for a budget in which nothing is found, and for what is not an executor."""
    if not _is_number(seconds) or not seconds > 0:
        raise UnusableChoice(search_wording.no_budget(seconds))
    if executor is not None and not has_method(executor, "submit"):
        raise UnusableChoice(wording.executor(executor))


def check_choices(keep: Any, most_axes: Any, most_split: Any) -> None:
    """Raise UnusableChoice for what is not a mapping by name, and for numbers below 1."""
    if not isinstance(keep, Mapping):
        raise UnusableChoice(wording.not_by_name("keep", keep, '{"x": P("data")}'))
    if not isinstance(most_split, Mapping):
        raise UnusableChoice(wording.not_by_name("most_split", most_split, '{"batch": 4}'))
    _check_count("most_axes", most_axes, 1)
    for name, most in most_split.items():
        _check_count(f"most_split of {name}", most, 1)


def check_dimensions(most_split: Mapping[str, int], names: Iterable[str]) -> None:
    """Raise UnusableChoice for a bound of a dimension that the program has not."""
    known = list(names)
    if unknown := [name for name in most_split if name not in known]:
        raise UnusableChoice(wording.no_such_dimension(unknown[0], known))


def check_count(count: Any) -> None:
    """Raise UnusableChoice for a number of layouts that cannot be compiled."""
    _check_count("confirm", count, 0)


def check_effort(effort: Any, efforts: Iterable[str]) -> None:
    """Raise UnusableChoice for an effort that no compile can have."""
    _check_among("effort", effort, efforts)


def check_form(form: Any, forms: Iterable[str]) -> None:
    """Raise UnusableChoice for a form of code that there is not."""
    _check_among("form", form, forms)


def _check_count(what: str, value: Any, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise UnusableChoice(wording.count(what, value, least))


def _check_among(what: str, value: Any, possible: Iterable[str]) -> None:
    named = list(possible)
    if value not in named:
        raise UnusableChoice(wording.not_among(what, value, named))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and not math.isnan(value)
