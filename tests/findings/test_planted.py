"""What costs a program most is among its first three findings."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from findings.planted import PROGRAMS, Planted

from jaxstage_ext import inspect


@pytest.mark.parametrize("make", PROGRAMS, ids=lambda make: make.__name__)
def test_what_is_wrong_is_among_the_first_three(make: Callable[[], Planted]) -> None:
    fn, arguments, kind, target = make()
    findings = inspect(fn, *arguments, target=target).findings.all()
    assert kind in [one.kind for one in findings[:3]], (str(findings), findings.failures)
