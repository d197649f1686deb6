"""What is too long to be shown whole."""

from __future__ import annotations

import pytest

from jaxstage_ext.report.text.shortened import shortened, some


@pytest.mark.parametrize(("text", "shown"), [("abcd", "abcd"), ("abcde", "abc…"), ("", "")])
def test_a_text_is_cut_at_its_end(text: str, shown: str) -> None:
    assert shortened(text, 4) == shown


def test_of_many_the_first_are_named() -> None:
    assert some(["a", "b"], 2) == "a, b"
    assert some(["a", "b", "c"], 2) == "a, b and 1 more"
    assert some([str(n) for n in range(1_500)], 1) == "0 and 1,499 more"
    assert some(["a", "b", "c"], 2, "; ") == "a; b and 1 more"
    assert some([], 3) == ""
