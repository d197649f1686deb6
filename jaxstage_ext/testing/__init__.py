"""Assertions about compiled programs for pytest: about figures, findings and donation, and not about XLA's names.

    from jaxstage_ext.testing import compiled

    def test_step():
        step_program = compiled(step, params, batch, target="v5e:2x4", mesh="data=8", in_specs={"batch": P("data")})
        step_program.collectives(at_most={"all-gather": 0}).memory(at_most="14 GiB").donates("params")

`pytest -p jaxstage_ext.testing.history_plugin --jaxstage-history FILE` keeps the figures of each commit.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__all__ = ["CompiledProgram", "compiled"]

if TYPE_CHECKING:
    from jaxstage_ext.testing.compiled_program import CompiledProgram, compiled


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(importlib.import_module("jaxstage_ext.testing.compiled_program"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
