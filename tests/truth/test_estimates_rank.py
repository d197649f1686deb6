"""Layouts rank by their estimates as they do by the least times of what XLA compiles at its default effort."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hand_written_layouts import BF16, STEPS, HandWritten, Shape

import jaxstage_ext
from jaxstage_ext.search.layout_result import ScoredLayout

pytestmark = [
    pytest.mark.usefixtures("kept_answers"),
    pytest.mark.seldom("ten compiles for each of six steps and three targets; the estimate itself is counted by hand"),
]
SPREAD = 5
"""Layouts beside the best of each kind, evenly out of the list."""


def scanned() -> HandWritten:
    """Eight layers whose parameters are stacked, under `jax.lax.scan`."""
    layers, width, hidden, batch, length = 8, 2048, 8192, 32, 256
    params = {
        "up": Shape((layers, width, hidden), BF16),
        "down": Shape((layers, hidden, width), BF16),
        "scale": Shape((layers, width), BF16),
    }

    def step(params: Any, x: Any, y: Any) -> Any:
        def loss(params: Any) -> Any:
            def layer(x: Any, weights: Any) -> Any:
                return x + jax.nn.gelu((x * weights["scale"]) @ weights["up"]) @ weights["down"], None

            return jnp.mean((jax.lax.scan(layer, x, params)[0] - y).astype(jnp.float32) ** 2)

        value, grads = jax.value_and_grad(loss)(params)
        return jax.tree.map(lambda p, g: p - 1e-3 * g, params, grads), value

    one = Shape((batch, length, width), BF16)
    return HandWritten(step, (params, one, one), {})


RANKED = {**STEPS, "scan": scanned}


def sample(layouts: Sequence[ScoredLayout]) -> list[int]:
    """The best of each kind, and a spread of those that take at most six times as long as the first."""
    first: dict[object, int] = {}
    for layout in layouts:
        first.setdefault(layout.kind, layout.number)
    slowest = 6 * (layouts[0].estimate.middle or 0.0)
    near = [layout.number for layout in layouts if (layout.estimate.middle or 0.0) < slowest]
    spread = [near[int((place + 0.5) / SPREAD * len(near))] for place in range(SPREAD)]
    return sorted({*list(first.values())[:7], *spread})


def correlation(one: Sequence[float], other: Sequence[float]) -> float:
    """Spearman's."""
    ranks = [np.argsort(np.argsort(values)) for values in (one, other)]
    return float(np.corrcoef(*ranks)[0, 1])


@pytest.mark.parametrize("target", ["h100:8", "b200:8", "v5e:2x4"])
@pytest.mark.parametrize("name", RANKED)
def test_estimates_rank_as_compiles_do(name: str, target: str) -> None:
    step, args, _ = RANKED[name]()
    search = jaxstage_ext.find_shardings(step, *args, target=target, confirm=0, budget=300)
    compiled = [(number, search.confirm(number, "default").least) for number in sample(search.found.layouts)]
    timed = [(search.found.layouts[number].estimate.middle, least) for number, least in compiled if least is not None]
    assert len(timed) >= 8
    found = correlation([estimate or 0.0 for estimate, _ in timed], [least for _, least in timed])
    assert found >= 0.75, (found, [(search.found.layouts[number], least) for number, least in compiled])
