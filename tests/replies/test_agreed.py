"""What Python and TypeScript must write alike, by examples that neither has made."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jaxstage_ext.panel.saving.saved_reply import reply_key
from jaxstage_ext.report.line_table import elide
from jaxstage_ext.report.text.units import share
from tests.replies import record

AGREED: dict[str, Any] = json.loads(record.RECORDED.with_name("agreed.json").read_text())


@pytest.mark.parametrize(("method", "params", "key"), AGREED["reply_keys"])
def test_a_saved_reply_has_the_name_under_which_the_page_asks_for_it(
    method: str, params: dict[str, Any], key: str
) -> None:
    assert reply_key(method, params) == key


@pytest.mark.parametrize("example", AGREED["elided"])
def test_a_long_line_loses_the_same_middle(example: list[Any]) -> None:
    letter, count, head, words, *tail = example
    ends = "".join(letter * times for letter, times in tail)
    assert elide(letter * count) == head[0] * head[1] + words + ends


@pytest.mark.parametrize(("part", "text"), AGREED["shares"])
def test_a_share_is_written_alike(part: float, text: str) -> None:
    assert share(part) == text
