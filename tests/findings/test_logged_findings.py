"""Findings of what the compile log kept of a call: its jaxpr, StableHLO and executable, without the arguments."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

import jaxstage_ext
from jaxstage_ext.findings.finding_kind import FindingKind
from tests.helpers.heard_compiles import heard_compiles


def test_each_kind_is_looked_for_and_none_fails() -> None:
    @jax.jit
    def step(x: Any, y: Any) -> Any:
        return (x @ y).sum()

    with heard_compiles() as heard:
        for size in (4, 5):
            step(np.ones((size, size), np.float32), np.ones((size, size), np.float32))
        [_, again] = heard.named("step")
        found = jaxstage_ext.compiles().inspect(again.number).findings
    assert {FindingKind.EXTRA_FLOPS, FindingKind.UNUSED_DONATION, FindingKind.REPLICATED_STATE} & set(found.looked)
    assert found.failures == ()
