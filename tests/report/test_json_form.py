"""JSON of someone else: read within bounds, checked against forms, refused in one line."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, Required, TypedDict

import pytest

from jaxstage_ext.report.saved import json_form
from jaxstage_ext.report.saved.json_form import BadForm, checked, quoted, read


class Inner(TypedDict, total=False):
    id: Required[int]
    mark: Literal["best", "worst"]


class Outer(TypedDict):
    name: str
    share: float | None
    parts: list[Inner]
    options: dict[str, Any]
    value: NotRequired[float | str | bool | None]


GOOD: dict[str, Any] = {"name": "a", "share": None, "parts": [{"id": 3, "mark": "best"}], "options": {"a": [1, {}]}}


def test_what_has_the_form_comes_back_without_what_the_form_does_not_name() -> None:
    assert checked(GOOD | {"value": True}, Outer, "it") == GOOD | {"value": True}
    assert checked(GOOD | {"more": 3, "parts": [{"id": 1, "x": 2}]}, Outer, "it") == GOOD | {"parts": [{"id": 1}]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": 3}, "it.name must be text, not 3"),
        ({"share": "x" * 1000}, "it.share must be a number, not '" + "x" * 78 + "…"),
        ({"share": True}, "it.share must be a number, not True"),
        ({"share": 10**400}, "it.share must be a number, not a number of more than 80 digits"),
        ({"parts": {}}, "it.parts must be a list, not an object of 0"),
        ({"parts": [{"id": 1}, {}]}, "it.parts[1] has no 'id'"),
        ({"parts": [{"id": 1.5}]}, "it.parts[0].id must be a whole number, not 1.5"),
        ({"parts": [{"id": 1, "mark": "x"}]}, "it.parts[0].mark must be 'best' or 'worst', not 'x'"),
        ({"options": []}, "it.options must be an object, not a list of 0"),
        ({"value": [1]}, "it.value must be a number or text or true or false or null, not a list of 1"),
    ],
)
def test_what_has_not_is_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(BadForm) as caught:
        checked(GOOD | changes, Outer, "it")
    assert str(caught.value) == message


def test_what_is_missing_is_named() -> None:
    with pytest.raises(BadForm, match=r"^it has no 'share'$"):
        checked({name: value for name, value in GOOD.items() if name != "share"}, Outer, "it")


def test_anything_is_not_endless() -> None:
    deep: Any = []
    for _ in range(900):
        deep = [deep]
    with pytest.raises(BadForm, match=r"^it.options.a is nested too deeply$"):
        checked(GOOD | {"options": {"a": deep}}, Outer, "it")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 100_000, "it is nested too deeply"),
        ('{"a":' * 100_000, "it is nested too deeply"),
        ("[NaN]", "it holds NaN, which is not a number of JSON"),
        ("[-Infinity]", "it holds -Infinity, which is not a number of JSON"),
        ("[1e999]", "it holds the number '1e999', which is too large"),
        ('{"a": 1, "b": 2, "a": 3}', "an object names 'a' twice"),
        ("[1", "it is not JSON: Expecting ',' delimiter at character 2"),
        ("[" + "[]," * 1_000_000 + "1]", "it has more than 500,000 lists and objects"),
    ],
    ids=lambda text: text[:8],
)
def test_text_that_is_refused(text: str, message: str) -> None:
    with pytest.raises(BadForm) as caught:
        read(text, 500_000)
    assert str(caught.value) == message


def test_a_number_of_many_digits_is_one_line() -> None:
    with pytest.raises(ValueError, match="digits"):
        read("[" + "9" * 10_000 + "]", 9)


HOSTILE = ["x" * 10**6, "\n" * 100, 10**5000, {"a": "b" * 1000}, ["x"] * 1000, 1.5, "\ud800"]


@pytest.mark.parametrize("value", HOSTILE, ids=lambda value: type(value).__name__)
def test_any_value_is_quoted_in_one_short_line(value: Any) -> None:
    assert "\n" not in quoted(value) and len(quoted(value)) <= json_form.LONGEST_QUOTE
    quoted(value).encode()
