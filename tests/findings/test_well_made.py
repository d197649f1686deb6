"""No finding on programs that are well made, here, on a TPU and on a GPU."""

from __future__ import annotations

from collections.abc import Callable

import jax
import pytest
from findings.well_made import PROGRAMS, Made

from jaxstage_ext import inspect


@pytest.mark.parametrize("make", PROGRAMS, ids=lambda make: make.__name__)
def test_nothing_is_found_in_what_is_well_made(make: Callable[[], Made]) -> None:
    fn, arguments, options = make()
    findings = inspect(fn, *arguments, **options).findings.all()
    assert [(one.kind, one.text) for one in findings] == []
    assert not findings.failures and not findings.waiting


@pytest.mark.seldom("36 compiles for TPUs and GPUs; each kind has its twins there")
@pytest.mark.parametrize("target", ["v5e:1x1", "h100"])
@pytest.mark.parametrize(
    "make", [one for one in PROGRAMS if "sharded" not in one.__name__][:-1], ids=lambda one: one.__name__
)
def test_nothing_is_found_for_devices_that_are_not_here(make: Callable[[], Made], target: str) -> None:
    fn, arguments, options = make()
    shapes = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), arguments)
    findings = inspect(fn, *shapes, target=target, **options).findings.all()
    assert [(one.kind, one.text) for one in findings] == []
