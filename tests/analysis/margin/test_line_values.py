"""Which value each line makes, over documents made by hand."""

from __future__ import annotations

import fakes
import numpy as np
import pytest

from jaxstage_ext.analysis.margin.line_values import MOST_NAMED, Chains, listed, paired, rows_by_line, sites
from jaxstage_ext.report.frames import Frames


def column(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def stacks() -> Frames:
    """f (line 2) called from lines 8 and 9, spelled once with and once without the caller's columns."""
    n = 6
    zeros = np.zeros(n, np.int32)
    return Frames(
        (fakes.CELL,),
        ("f",),
        zeros,
        zeros,
        column(8, 2, 9, 2, 8, 2),
        column(1, 5, 1, 5, 1, 5),
        column(8, 2, 9, 2, 8, 2),
        column(9, 9, 9, 9, 0, 0),
        column(-1, 0, -1, 2, -1, 4),
        column(0, 1, 2, 3, 4, 5),
    )


def test_stacks_are_the_same_whose_lines_are() -> None:
    chains = Chains(stacks())
    assert chains.of(1) == chains.of(5) != chains.of(3)
    assert chains.of(1)[1] == chains.of(3)[1]
    assert chains.of(-1) == chains.of(99) == (-1, -1)


def test_a_frame_of_a_library_is_its_callers_line() -> None:
    chains = Chains(fakes.frames())
    assert chains.of(2) == chains.of(1) != chains.of(0)


@pytest.mark.parametrize(
    ("line", "made"),
    [
        ("    d:f32[8,512] = tanh c", ("tanh", (8, 512), "f32")),
        ("    d:bf16[8@data,512@(x,y)]{V:z} = dot_general[", ("dot_general", (8, 512), "bf16")),
        ("    n:f32[64,32] o:f32[3] = scan[", ("scan", (64, 32), "f32")),
        ("    s:f32[] = reduce_sum[axes=(0,)] d", ("reduce_sum", (), "f32")),
        ("    d:f32[n,512] = tanh c", None),
        ("      preferred_element_type=float32", None),
        ("{ lambda ; a:f32[128,512]. let", None),
    ],
)
def test_an_equation_is_read(line: str, made: tuple[str, tuple[int, ...], str] | None) -> None:
    document = fakes.ir("jaxpr", [line], {0: 0})
    found = [(site.op, site.dims, site.dtype) for site in sites(document, Chains(fakes.frames()))]
    assert found == ([] if made is None else [made])


def test_rows_get_what_is_theirs() -> None:
    alike = [("a", "k"), ("a", "k")]
    assert list(paired([(5, "k")], alike)) == [(5, ("a",), False)]
    several = [("a", "k"), ("b", "k")]
    assert list(paired([(5, "k"), (7, "k")], several)) == [(5, ("a",), True), (7, ("b",), True)]
    assert list(paired([(5, "k")], several)) == [(5, ("a", "b"), False)]
    assert list(paired([(5, "other")], several)) == []


def test_source_rows_are_found_by_the_names_of_their_lines() -> None:
    assert rows_by_line(fakes.python()) == {"In [5]:1": 1, "In [5]:2": 2, "In [5]:3": 3}


def test_of_many_values_the_first_are_named() -> None:
    assert listed(["a", "b"]) == "a\nb"
    assert listed([str(i) for i in range(MOST_NAMED + 3)]).endswith("\nand 3 more")
