"""Many parameters of the entry computation fold into one row."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import pytest

from jaxstage_ext import inspect


@pytest.mark.parametrize(("count", "folded"), [(3, 0), (9, 8)])
def test_only_many_parameters_fold(count: int, folded: int) -> None:
    def total(weights: list[Any]) -> Any:
        return sum(jnp.sum(jnp.tanh(weight)) for weight in weights)

    document = inspect(total, [jnp.ones((4, 4))] * count).documents["hlo"]
    entry = next(row for row, line in enumerate(document.lines) if line.startswith("ENTRY"))
    first = entry + 1
    assert max(0, int(document.fold_end[first]) - first) == folded
    inside = document.lines[first : first + folded + 1]
    assert all(" parameter(" in line for line in inside)
    assert " parameter(" not in document.lines[first + folded + 1] or not folded
