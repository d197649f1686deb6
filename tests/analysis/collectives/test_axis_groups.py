"""The devices that exchange along axes of a mesh, and along parts of axes."""

from __future__ import annotations

import pytest

from jaxstage_ext.analysis.collectives.axis_groups import axis_groups


@pytest.mark.parametrize(
    ("axes", "groups"),
    [
        (("a",), {(0, 2, 4, 6), (1, 3, 5, 7)}),
        (("b",), {(0, 1), (2, 3), (4, 5), (6, 7)}),
        (("a", "b"), {tuple(range(8))}),
        (("a:(2)2",), {(0, 2), (1, 3), (4, 6), (5, 7)}),
        (("a:(1)2",), {(0, 4), (1, 5), (2, 6), (3, 7)}),
    ],
)
def test_groups_of_axes(axes: tuple[str, ...], groups: set[tuple[int, ...]]) -> None:
    assert set(axis_groups({"a": 4, "b": 2}, axes).members) == groups
