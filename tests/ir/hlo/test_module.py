"""The parsed module: what it keeps in memory, and when it is the same as another."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from jaxstage_ext.analysis.memory.entry_values import aliased_arguments
from jaxstage_ext.ir.hlo import module as hlo
from jaxstage_ext.ir.hlo import schedule, schema

GOLDEN = sorted((Path(__file__).parents[2] / "golden").glob("jax-*/transformer_gradient/hlo.pb"))
small_and_new = pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.parts[-3])


def decoded(proto: bytes) -> hlo.Module:
    """A module of which every part was asked for."""
    module = hlo.parse(proto)
    assert len(module.shapes.bytes) == len(module.graph.home) == len(module)
    assert module.operands[0] is not None and module.called[0] is not None
    assert len(module.rows_of_ids(module.ids)) == len(module)
    return module


@small_and_new
def test_size_is_the_memory_that_a_module_takes(path: Path) -> None:
    proto = path.read_bytes()
    decoded(proto)
    tracemalloc.start()
    module = decoded(proto)
    taken = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert 0.7 * taken < hlo.size(module) < 1.4 * taken


@small_and_new
def test_the_same_module_is_not_decoded_twice(path: Path) -> None:
    proto = path.read_bytes()
    module = hlo.parse(proto)
    assert hlo.parse(proto, module) is module
    other = schema.Module.FromString(proto)
    other.name = "another"
    assert hlo.parse(other.SerializeToString(), module) is not module


@small_and_new
def test_the_header_holds_all_but_the_instructions(path: Path) -> None:
    proto = path.read_bytes()
    header = hlo.parse(proto).header
    assert header.ByteSize() < len(proto) / 3
    assert not any(computation.instructions for computation in header.computations)


@small_and_new
def test_every_instruction_is_found_by_its_id_and_every_operand_comes_before_its_user(path: Path) -> None:
    module = hlo.parse(path.read_bytes())
    assert (module.rows_of_ids(module.ids) == np.arange(len(module))).all()
    assert (module.rows_of_ids(np.array([-5, 10**12])) == -1).all()
    assert (module.operands.values < module.operands.owner).all()


@small_and_new
def test_both_schedules_have_the_same_order_within_a_computation(path: Path) -> None:
    module = hlo.parse(path.read_bytes())
    whole, places = schedule.read(module), schedule.places(module)
    assert whole is not None and places is not None
    for computation in range(len(module.computations)):
        rows = np.flatnonzero((module.computation == computation) & (whole.position >= 0))
        assert (np.argsort(whole.position[rows]) == np.argsort(places[rows])).all()


def test_a_module_without_instructions() -> None:
    module = hlo.parse(b"")
    assert (len(module), module.entry, list(module.roots)) == (0, -1, [])
    assert schedule.read(module) is schedule.places(module) is None
    assert aliased_arguments(module) == {}
    assert len(module.graph.home) == len(module.shapes.bytes) == 0
