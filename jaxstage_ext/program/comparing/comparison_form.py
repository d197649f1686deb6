"""The form of the table of a call's targets: plain JSON types only, as the front end and saved reports have it."""

from __future__ import annotations

from typing import Literal, NotRequired, Required, TypedDict


class ComparedCell(TypedDict):
    """A figure of a target: its value, None where unknown for a `reason`; its text; how it compares with the others."""

    value: float | str | bool | None
    text: str
    reason: NotRequired[str]
    note: NotRequired[str]
    mark: NotRequired[Literal["best", "worst"]]


class ComparedColumn(TypedDict):
    """A column: `lower` is whether less is better, None where neither is; `unit` "" for counts and words."""

    name: str
    title: str
    hint: str
    lower: bool | None
    unit: NotRequired[str]


class ComparedTarget(TypedDict):
    """A row: the target, what it is, the error in one line where a stage failed, and a cell of each column."""

    target: str
    device: str
    error: str | None
    cells: dict[str, ComparedCell]


class ComparisonForm(TypedDict):
    """A `Comparison.to_dict`. `headline` is what it comes to, in a sentence."""

    headline: NotRequired[str]
    name: str
    columns: list[ComparedColumn]
    rows: list[ComparedTarget]


class ComparisonOfTarget(TypedDict, total=False):
    """What a target's summary has of the table: the number of its row, and for the first target the table too.

    `before` is the row of an earlier version that the others are compared with; 0 where there is none.
    """

    row: Required[int]
    before: int
    headline: str
    name: str
    columns: list[ComparedColumn]
    rows: list[ComparedTarget]
