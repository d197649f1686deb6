"""Keys are numbered in the order of their first use."""

from __future__ import annotations

import numpy as np

from jaxstage_ext.report.numbering import Numbering, numbered


def test_a_key_keeps_the_number_that_it_got_first() -> None:
    numbers = Numbering[str]()
    assert [numbers[key] for key in "abcab"] == [0, 1, 2, 0, 1]
    assert list(numbers) == ["a", "b", "c"]
    assert numbers.get("z") is None and "z" not in numbers


def test_all_keys_at_once() -> None:
    keys, codes = numbered(["x", "y", "x", ""])
    assert keys == ["x", "y", ""] and codes.tolist() == [0, 1, 0, 2]
    assert numbered([])[1].dtype == np.int64 and len(numbered([])[1]) == 0
