"""A function's name is part of the names of XLA's dumps; a disk takes 255 bytes of one: longer ones are dumped too."""

from __future__ import annotations

import re
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from jaxstage_ext import inspect
from jaxstage_ext.api.inspection import Inspection
from jaxstage_ext.core.recompile import machine_code, pass_pipeline, preparation, recompiled_buffers
from jaxstage_ext.worker.inside import short_names
from jaxstage_ext.worker.inside.clients import parsed
from jaxstage_ext.worker.inside.short_names import ShortName

LONG = "train_step" + "_of_the_big_run" * 16


def compiled(name: str) -> Inspection:
    def step(x: Any) -> Any:
        return jnp.sum(jnp.tanh(x @ x))

    step.__name__ = step.__qualname__ = name
    return inspect(step, np.ones((8, 8), np.float32), target="cpu:2")


def steps(passes: Any) -> list[tuple[str, str, int | None]]:
    """Without the number that XLA gives a pass in each process."""
    return [(step.pipeline, re.sub(r"-\d+$", "", step.name), step.version) for step in passes]


@pytest.fixture(scope="module")
def long() -> Inspection:
    return compiled(LONG)


def test_its_passes_are_those_of_a_short_name(long: Inspection) -> None:
    found, short = (pass_pipeline.recompile_passes(one.program.staged) for one in (long, compiled("step")))
    assert steps(found) == steps(short)
    texts = list(found.versions)
    assert {text.split(",")[0] for text in texts} == {f"HloModule jit_{LONG}"}
    assert [text.replace(LONG, "step") for text in texts] == list(short.versions)


def test_its_machine_code_is_that_of_its_own_module(long: Inspection) -> None:
    staged, text = long.program.staged, long.documents["hlo"].text
    kernels, same = machine_code.dumped(preparation.prepared(staged), text, True, staged.limits, None)
    assert same and kernels.kernels


def test_its_buffers_are_assigned(long: Inspection) -> None:
    assert len(recompiled_buffers.recompile(long.program.staged).proto) > 1000


def test_a_short_name_and_what_is_no_module_are_left_alone() -> None:
    for given in (b"module @m { func.func @main() { return } }", b"HloModule m"):
        assert short_names.shortened(given)[0] is given


def test_a_name_of_letters_of_several_bytes_is_cut_between_them() -> None:
    module, name = short_names.shortened(f'module @"{"ä" * 60}" {{ func.func @main() {{ return }} }}'.encode())
    assert name == ShortName("ä" * 24, "ä" * 60)
    assert parsed(module).operation.attributes["sym_name"].value == "ä" * 24
