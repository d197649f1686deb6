"""Texts of the user's values: whatever their own code does."""

from __future__ import annotations

import functools
import sys
import threading
import time
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from jaxstage_ext.report.text.bounded_repr import (
    ValueTexts,
    bounded_repr,
    bounded_str,
    function_name,
    plain_pair,
    plain_repr,
    type_name,
)

ERRORS = (ValueError("x"), SystemExit(1), GeneratorExit(), KeyboardInterrupt(), StopIteration(), MemoryError())


class Raising:
    def __init__(self, error: BaseException) -> None:
        self.error, self.asked = error, 0

    def __repr__(self) -> str:
        self.asked += 1
        raise self.error

    @property
    def __name__(self) -> str:
        raise self.error

    def __call__(self) -> None: ...


class Endless:
    def __init__(self) -> None:
        self.asked = 0

    def __repr__(self) -> str:
        self.asked += 1
        while True:
            try:
                time.monotonic()
            except Exception:
                continue

    __str__ = __repr__

    @property
    def __name__(self) -> str:
        return repr(self)

    def __call__(self) -> None: ...


class Recursive:
    def __repr__(self) -> str:
        return repr(self)


class NoText:
    def __repr__(self) -> Any:
        return 3


class NamelessClass(type):
    @property
    def __name__(cls) -> str:
        raise ValueError("nameless")

    __module__ = property(lambda cls: 1 / 0)  # type: ignore[assignment]


class Nameless(metaclass=NamelessClass):
    __class__ = str  # type: ignore[assignment]

    def __repr__(self) -> str:
        raise ValueError


def threads() -> int:
    return len(sys._current_frames())


def few_threads(most: int) -> bool:
    """Whether the threads that were told to end do so: their next line of Python is their last."""
    until = time.monotonic() + 60
    while threads() > most and time.monotonic() < until:
        time.sleep(0.01)
    return threads() <= most


WRITTEN = (
    (1, "1"),
    (True, "True"),
    (None, "None"),
    ("a\nb", r"'a\nb'"),
    ((1,), "(1,)"),
    (set(), "set()"),
    (frozenset({1}), "frozenset({1})"),
    ({"a": [1, 2.5]}, "{'a': [1, 2.5]}"),
    (10**9999, "<int of 33,216 bits>"),
    (np.float32(2), "np.float32(2.0)"),
    (np.ones(2), "array([1., 1.])"),
    (np.ones((1000, 1000)), "float64[1000,1000]"),
    (jnp.ones(3), "float32[3]"),
    (jnp.float32, "float32"),
    (np.dtype("float32"), "float32"),
    (jnp.sin, "sin"),
    (lambda x: x, "<lambda>"),
    (Raising, "Raising"),
    (NoText(), "<NoText: repr raised TypeError>"),
    (Recursive(), "<Recursive: repr raised RecursionError>"),
    (Nameless(), "<Nameless: repr raised ValueError>"),
    ([1, Raising(ValueError()), 2], "[1, <Raising: repr raised ValueError>, 2]"),
)


@pytest.mark.parametrize("case", WRITTEN, ids=[text for _, text in WRITTEN])
def test_a_value_is_written_as_python_writes_it(case: tuple[object, str]) -> None:
    assert bounded_repr(case[0]) == case[1]


@pytest.mark.parametrize("error", ERRORS, ids=type_name)
def test_a_text_that_raises_says_so(error: BaseException) -> None:
    assert bounded_repr(Raising(error)) == f"<Raising: repr raised {type_name(error)}>"
    assert function_name(Raising(error)) == ""


def test_a_text_that_never_ends_is_ended() -> None:
    before, endless = threads(), Endless()
    assert bounded_repr(endless, seconds=0.05) == "<Endless: repr took over 0.05 s>"
    assert bounded_repr([1, endless, endless], seconds=0.05) == "<list: repr took over 0.05 s>"
    assert bounded_str(endless, seconds=0.05) == "<Endless: str took over 0.05 s>"
    assert function_name(endless, seconds=0.05) == ""
    assert few_threads(before), "an endless repr still runs"


def test_large_values_are_cut_before_they_are_written() -> None:
    nested: list[object] = []
    for _ in range(9):
        nested = [nested] * 100
    own: list[object] = [1]
    own.append(own)
    for value in ([0] * 10**6, "a" * 10**8, b"a" * 10**8, {i: i for i in range(10**5)}, nested, own, "é\n" * 500):
        began = time.thread_time()
        assert len(bounded_repr(value, 80)) <= 80
        assert time.thread_time() - began < 0.05
    assert bounded_repr([0] * 10**6, 11) == "[0, 0, 0, …"


def test_a_value_is_asked_for_its_text_once() -> None:
    texts, raising = ValueTexts(), Raising(ValueError())
    assert {texts.repr_of(raising) for _ in range(3)} == {"<Raising: repr raised ValueError>"}
    assert raising.asked == 1


def test_the_values_of_one_call_share_their_time(monkeypatch: pytest.MonkeyPatch) -> None:
    allowed, ask = [], bounded_repr

    def asked(value: object, seconds: float) -> str:
        allowed.append(seconds)
        return ask(value, seconds=seconds)

    monkeypatch.setattr("jaxstage_ext.report.text.bounded_repr.bounded_repr", asked)
    texts, endless = ValueTexts(0.1), [Endless() for _ in range(20)]
    for _ in range(3):
        assert all("repr took over" in texts.repr_of(value) for value in endless)
    assert len(allowed) == 20 and all(value.asked <= 1 for value in endless)
    assert allowed[0] == 0.1 and allowed[1:] == [0.01] * 19


def test_what_runs_no_code_of_the_users_needs_none() -> None:
    endless = Endless()
    assert plain_repr({1: "a"}) == "{1: 'a'}"
    assert plain_repr(endless) == "<Endless>"
    assert plain_repr((1, endless)) == "<tuple>"
    assert endless.asked == 0


def test_names_of_functions() -> None:
    assert function_name(jnp.sin) == "sin"
    assert function_name(functools.partial(jnp.sin)) == ""
    assert type_name(Nameless()) == "Nameless"


def test_an_interrupt_ends_the_text_and_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    before = threads()

    def interrupted(*_: object) -> bool:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(threading.Event, "wait", interrupted)
        with pytest.raises(KeyboardInterrupt):
            bounded_repr(Endless())
    assert few_threads(before)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1 + 0.05, "0.15"),
        (1.1 * 3, "3.3"),
        ((0.1 + 0.05, {"rate": 0.1 + 0.2}), "(0.15, {'rate': 0.3})"),
        (1 / 3, "0.3333333333333333"),
        (1e22, "1e+22"),
        (123456789.123456789, repr(123456789.123456789)),
        (float("nan"), "nan"),
        (float("inf"), "inf"),
        (-0.0, "-0.0"),
        (5e-324, "5e-324"),
    ],
)
def test_a_float_has_the_digits_that_a_decimal_number_has(value: Any, text: str) -> None:
    """Of a double 15 digits of any decimal number survive (IEEE 754); a 16th or 17th appears by computing alone."""
    assert plain_repr(value) == bounded_repr(value) == text
    assert plain_repr(value, exact=True) == repr(value)


def test_two_floats_that_differ_are_told_apart() -> None:
    assert plain_pair(0.1, 0.1 + 0.05) == ("0.1", "0.15")
    assert plain_pair(0.15, 0.1 + 0.05) == ("0.15", "0.15000000000000002")
    assert plain_pair((0.15,), (0.1 + 0.05,)) == ("(0.15,)", "(0.15000000000000002,)")
