"""A fusion of several source lines: its time is that of the line that does most of its work."""

from __future__ import annotations

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np

from jaxstage_ext.ir.hlo.module import parse
from jaxstage_ext.ir.hlo.places.heaviest_members import heaviest_members
from jaxstage_ext.ir.wire.lists import lists
from jaxstage_ext.profiling.analysis.table_wording import FUSED
from jaxstage_ext.profiling.capture.capture import Capture
from jaxstage_ext.profiling.capture.captured_recording import recording_of
from jaxstage_ext.program.kinds.recorded_program import RecordedProgram


@jax.jit
def chain(w: jax.Array, x: jax.Array) -> jax.Array:
    product = jnp.tanh(x @ w)
    return product.sum()


def test_the_line_of_the_product_has_the_time_of_the_fusion_that_also_sums() -> None:
    x = jnp.ones((256, 256))
    jax.block_until_ready(chain(x, x))
    capture = Capture("chain")
    with capture.recording(), capture.step() as results:
        results.append(chain(x, x))
    timeline = RecordedProgram.of(recording_of(capture)).timeline
    assert timeline is not None
    lines = timeline.by_line()
    first = chain.__wrapped__.__code__.co_firstlineno
    assert lines["line"][0].endswith(f":{first + 2}")
    if timeline.places.fused.any():
        assert FUSED in lines.notes


def test_the_heaviest_member_is_the_product_and_a_plain_instruction_is_itself() -> None:
    x = jnp.ones((256, 256))
    compiled = chain.lower(x, x).compile()
    module = parse(compiled.runtime_executable().hlo_modules()[0].as_serialized_hlo_module_proto())
    rows = np.arange(len(module))
    heaviest = heaviest_members(module, rows)
    entry = module.rows(b"fusion")
    holding = [row for row in entry.tolist() if module.opcode[heaviest[row]] == b"dot"]
    others = np.flatnonzero(~np.isin(module.opcode, (b"fusion", b"call")))
    np.testing.assert_array_equal(heaviest[others], others)
    assert holding or (module.opcode == b"dot").any()


def test_a_damaged_module_neither_fails_nor_runs_in_circles() -> None:
    x = jnp.ones((64, 64))
    module = parse(chain.lower(x, x).compile().runtime_executable().hlo_modules()[0].as_serialized_hlo_module_proto())
    rows = np.arange(len(module))
    circles = np.zeros(len(module), np.int64)
    calling = replace(
        module, opcode=np.full(len(module), b"fusion"), called=lists(rows, circles, len(module)), computation=circles
    )
    assert len(heaviest_members(calling, rows)) == len(module)
    cut = replace(module, shape_field=module.shape_field._replace(size=module.shape_field.size - 1))
    np.testing.assert_array_equal(heaviest_members(cut, rows), rows)
