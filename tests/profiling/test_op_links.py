"""The instructions of a recording are tied to the source lines that made them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxstage_ext.core.jax_private import xla_executables
from jaxstage_ext.ir.hlo import hlo_document
from jaxstage_ext.ir.hlo import module as hlo
from jaxstage_ext.ir.sources.source import FrameTable
from jaxstage_ext.profiling import op_links
from jaxstage_ext.profiling.op_links import ShownModule
from jaxstage_ext.profiling.op_places import ModuleMatch, OpPlaces
from jaxstage_ext.profiling.xplane import xplane
from jaxstage_ext.report.recording import NONE, Recording
from tests.helpers import transformer
from tests.helpers.profiles import captured, trace_bytes


def _self_time(recording: Recording) -> np.ndarray:
    """Self time of each op: its events without those nested in them on their lane, by a stack for each lane."""
    events, total = recording.events, np.zeros(len(recording.ops))
    stack: list[int] = []
    for i in np.flatnonzero(events.op != NONE).tolist():
        while stack and (events.lane[stack[-1]] != events.lane[i] or events.end[stack[-1]] <= events.start[i]):
            stack.pop()
        total[events.op[i]] += events.duration[i]
        if stack:
            total[events.op[stack[-1]]] -= events.duration[i]
        stack.append(i)
    return total


def _lines(places: OpPlaces, recording: Recording) -> dict[str, int]:
    frames = places.frames
    known = [(op, frames.user[frame]) for op, frame in enumerate(places.frame.tolist()) if frame >= 0]
    return {recording.ops.name[op]: int(frames.line[frame]) for op, frame in known}


def _line(function: Callable[..., object], text: str) -> int:
    lines, first = inspect.getsourcelines(function)
    return first + next(n for n, line in enumerate(lines) if text in line)


def test_a_transformer_step_has_95_percent_of_its_op_time_on_source_lines() -> None:
    arguments = transformer.inputs()
    jax.block_until_ready(transformer.step(*arguments))
    recording = xplane.read(captured(lambda: [transformer.step(*arguments) for _ in range(3)]), "step")
    places = op_links.places(recording)
    time = _self_time(recording)
    known = places.frame >= 0
    own = np.zeros(len(time), bool)
    own[known] = places.frames.file[places.frames.user[places.frame[known]]] == [
        file.name for file in places.frames.files
    ].index(transformer.__file__)
    print(f"{time[known].sum() / time.sum():.2%} on a line, {time[own].sum() / time.sum():.2%} on the step's own lines")
    assert time[own].sum() >= 0.95 * time.sum()
    assert (places.category != NONE).all()


def test_each_instruction_stands_on_the_line_that_made_it() -> None:
    def slow(x: jax.Array) -> jax.Array:
        y = jnp.sort(x, axis=-1)
        for _ in range(2):
            y = jnp.tanh(y @ x)
        return jnp.linalg.qr(y)[0]

    function, x = jax.jit(slow), jnp.ones((64, 64))
    function(x).block_until_ready()
    recording = xplane.read(captured(lambda: function(x)), "slow")
    places = op_links.places(recording)
    lines = _lines(places, recording)
    of = {name: {line for op, line in lines.items() if name in op} for name in ("sort", "tanh")}
    assert of["sort"] == {_line(slow, "jnp.sort")}
    assert of["tanh"] == {_line(slow, "jnp.tanh")}
    scopes = {recording.ops.name[op]: places.scopes[s] for op, s in enumerate(places.scope.tolist()) if s != NONE}
    assert any("sort" in name and "sort" in scope for name, scope in scopes.items())


def test_a_profile_of_another_machine_leads_to_its_source() -> None:
    recording = xplane.read(trace_bytes("amd_gfx95x_jax_te_attention.xplane.pb"), "attention")
    places = op_links.places(recording)
    assert (places.frame >= 0).all()
    names = {
        recording.ops.name[op]: places.categories[category] for op, category in enumerate(places.category.tolist())
    }
    assert names["custom-call.1"] == "custom-call to __cublas$gemm"
    assert names["gemm_fusion_dot.3"] == "custom fusion of dot"
    assert names["wrapped_convert"] == "loop fusion"


def _shown(function: jax.stages.Wrapped, table: FrameTable, *arguments: jax.Array) -> ShownModule:
    (module,) = xla_executables.hlo_modules(function.lower(*arguments).compile())
    parsed = hlo.parse(xla_executables.hlo_proto(module))
    text = xla_executables.hlo_text(module, large_constants=False)
    return ShownModule(parsed, hlo_document.read(text, parsed, table))


@pytest.fixture
def ran() -> tuple[jax.stages.Wrapped, Recording]:
    function = jax.jit(lambda x: jnp.tanh(x @ x).sum())
    function(jnp.ones((32, 32))).block_until_ready()
    return function, xplane.read(captured(lambda: function(jnp.ones((32, 32)))), "f")


def test_instructions_have_rows_in_the_document_of_the_same_module(ran: tuple[jax.stages.Wrapped, Recording]) -> None:
    function, recording = ran
    table = FrameTable()
    shown = _shown(function, table, jnp.ones((32, 32)))
    places = op_links.places(recording, table, shown)
    assert places.match == ModuleMatch.SAME
    here = [op for op, m in enumerate(recording.ops.module.tolist()) if recording.modules[m].name == "jit__lambda"]
    assert here
    for op in here:
        assert f"%{recording.ops.name[op]} = " in shown.document.lines[places.row[op]]
        assert places.frame[op] == shown.document.frame[places.row[op]]


def test_a_module_of_other_instructions_is_not_the_same(ran: tuple[jax.stages.Wrapped, Recording]) -> None:
    function, recording = ran
    table = FrameTable()
    other = jax.jit(lambda x: jnp.sin(x) + 1)
    assert op_links.places(recording, table, _shown(other, table, jnp.ones(3))).match == ModuleMatch.DIFFERENT
    renamed = replace(recording, modules=tuple(replace(m, name="jit_g") for m in recording.modules))
    places = op_links.places(renamed, table, _shown(function, table, jnp.ones((32, 32))))
    assert places.match == ModuleMatch.ABSENT
    assert (places.row == NONE).all()


def test_a_profile_without_modules_is_matched_by_name(ran: tuple[jax.stages.Wrapped, Recording]) -> None:
    function, recording = ran
    bare = replace(recording, modules=tuple(replace(m, proto=None) for m in recording.modules))
    assert (op_links.places(bare).frame == NONE).all()
    table = FrameTable()
    places = op_links.places(bare, table, _shown(function, table, jnp.ones((32, 32))))
    assert places.match == ModuleMatch.BY_NAME
    assert (places.row != NONE).any()


def test_a_damaged_module_leaves_its_instructions_without_a_place(ran: tuple[jax.stages.Wrapped, Recording]) -> None:
    damaged = replace(ran[1], modules=tuple(replace(m, proto=lambda: b"\x0a\xff") for m in ran[1].modules))
    assert (op_links.places(damaged).frame == NONE).all()
