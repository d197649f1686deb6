"""Parts of a view: an error of one becomes a line, and what is no error of the part ends the view."""

from __future__ import annotations

import pytest
from _pytest.outcomes import Failed

from jaxstage_ext.report.unavailable import Unavailable
from jaxstage_ext.report.view_parts import Parts


class Exiting:
    def __repr__(self) -> str:
        raise SystemExit(3)


def raises(error: BaseException) -> object:
    raise error


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("first line\nsecond"), "The cost cannot be shown: ValueError: first line"),
        (MemoryError(), "The cost cannot be shown: MemoryError"),
        (Unavailable("not compiled"), "The cost unavailable: not compiled"),
    ],
)
def test_a_part_that_fails_is_a_line(error: Exception, said: str) -> None:
    parts = Parts()
    assert parts.get("The cost", lambda: raises(error), "otherwise") == "otherwise"
    assert parts.get("The time", lambda: "5 ms", "otherwise") == "5 ms"
    assert parts.failures == [said]


def test_a_value_of_the_user_s_that_exits_does_not_end_the_kernel() -> None:
    parts = Parts()
    assert parts.get("The value", lambda: repr(Exiting()), "otherwise") == "otherwise"
    assert parts.failures == ["The value cannot be shown: SystemExit: 3"]


@pytest.mark.parametrize("kind", [KeyboardInterrupt, GeneratorExit, Failed, BaseException])
def test_what_is_no_error_of_a_part_goes_on(kind: type[BaseException]) -> None:
    parts = Parts()
    with pytest.raises(kind):
        parts.get("The cost", lambda: raises(kind("stop")), "otherwise")
    assert parts.failures == []
