"""What the panel says of a compile that missed the persistent cache."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
from cache_folder import CacheFolder
from panel_requests import ask

from jaxstage_ext.compilation.events import listening
from jaxstage_ext.compilation.history.history import history
from jaxstage_ext.compilation.records.compile_log import LOG
from jaxstage_ext.program.kinds.compile_history_program import CompileHistoryProgram


def missed_by(name: str) -> list[dict[str, Any]]:
    """What the panel says of the compiles of a function, oldest first."""
    program = CompileHistoryProgram(history(LOG))
    numbers = [record.number for record in LOG if record.name == name and record.persistent is not None]
    return [ask(program, "compile_record", number=number)[0]["persistent"] for number in numbers]


def test_a_miss_is_explained_and_a_hit_is_not(folder: CacheFolder) -> None:
    def panel_step(x: Any) -> Any:
        return x @ x

    LOG.clear()
    folder.takes_facts = False
    listening.start()
    for size in (4, 6, 4):
        jax.clear_caches()
        jax.jit(panel_step)(np.ones((size, size), np.float32))
    first, other, hit = missed_by("panel_step")
    assert (first["outcome"], other["outcome"], hit["outcome"]) == ("miss, written", "miss, written", "hit")
    assert first["missed"] == ["no earlier entry of jit_panel_step was recorded in this folder"]
    [signature] = other["missed"]
    assert "tensor<4x4xf32>" in signature
    assert "tensor<6x6xf32>" in signature
    assert any("6x6" in line for line in other["diff"] if line.startswith("+"))
    assert (hit["missed"], hit["diff"]) == ([], [])


def test_a_program_that_was_not_written_is_explained_too(folder: CacheFolder) -> None:
    def fast_step(x: Any) -> Any:
        return x + 1

    LOG.clear()
    folder.takes_facts = False
    listening.start()
    jax.clear_caches()
    jax.jit(fast_step)(np.ones((4,), np.float32))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 60.0)
    jax.jit(fast_step)(np.ones((5,), np.float32))
    said = missed_by("fast_step")[-1]
    assert said["outcome"] == "miss, not written: faster than jax_persistent_cache_min_compile_time_secs"
    assert "tensor<5xf32>" in said["missed"][0]
