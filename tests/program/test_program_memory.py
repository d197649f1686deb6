"""Memory against XLA's own figures: its statistics, its peak sets, its live ranges, over real programs and targets."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any

import compiled_once
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from absent import needs
from counted_calls import calls_of

from jaxstage_ext import inspect
from jaxstage_ext.analysis.memory import buffers
from jaxstage_ext.analysis.memory.live_memory import Memory
from jaxstage_ext.core.recompile import recompiled_buffers as memory_look
from jaxstage_ext.ir.hlo import buffer_assignment
from jaxstage_ext.ir.hlo import module as hlo
from jaxstage_ext.ir.hlo import schedule as hlo_schedule
from jaxstage_ext.worker import pool as worker
from tests.benchmarks import model
from tests.golden.record import load_programs

PROGRAMS = {**load_programs().PROGRAMS, "step": model.step(1)}
TARGETS = ("local", "v5e:2x2", "h100:4")
NEVER = {("callback", "v5e:2x2"), ("callback", "h100:4")}
TOTALS = jax.__version_info__ >= (0, 12)


pytestmark = pytest.mark.usefixtures("no_workers_left")


@functools.cache
def memory(program: str, target: str) -> Memory:
    needs(target)
    function, arguments = PROGRAMS[program]
    with compiled_once.kept():
        return inspect(function, *arguments, stage="lower", target=target).memory


everywhere = pytest.mark.parametrize(
    ("program", "target"), [(p, t) for t in TARGETS for p in PROGRAMS if (p, t) not in NEVER]
)


@everywhere
def test_what_is_reserved_is_what_xla_allocates(program: str, target: str) -> None:
    found = memory(program, target)
    space, stats = found.space(), found.stats
    if TOTALS:
        local = space.local if target.startswith("v5e") else 0
        assert space.reserved + local == stats["total_allocation_bytes"]
    elif target == "local":
        assert space.reserved == stats["peak_memory_in_bytes"] + stats["temp_size_in_bytes"]


@everywhere
def test_the_peak_is_xlas_where_that_counts_the_same(program: str, target: str) -> None:
    """XLA's peak: what all memories hold throughout, and the largest of its heap simulations; on CPU none of them."""
    found = memory(program, target)
    held = sum(space.held for space in found.spaces)
    simulated = 0 if target == "local" else found.simulated
    assert held + simulated == found.stats["peak_memory_in_bytes"]
    table = found.scheduled.buffers
    untold = int(table.size[~table.traced & (table.space == 0)].sum())
    if target == "h100:4":
        assert found.space().peak == found.stats["peak_memory_in_bytes"] + untold


@everywhere
def test_a_peak_that_differs_from_xlas_is_explained(program: str, target: str) -> None:
    for check in memory(program, target).checks.rows():
        near = check["XLA"] is None or abs(check["here"] - check["XLA"]) <= 0.01 * check["XLA"]
        assert bool(check["note"]) is not near
        assert "the reason is unknown" not in check["note"]


@everywhere
def test_live_bytes_lie_between_what_is_held_and_what_is_reserved(program: str, target: str) -> None:
    found = memory(program, target)
    assert found.spaces
    for space in found.spaces:
        curve = found.curve(space.color)
        assert space.held <= curve.min() <= curve.max() == space.peak <= space.reserved
        assert sum(found.peak(space.color)["size"]) == space.peak


@everywhere
def test_events_stand_in_the_order_of_the_schedule(program: str, target: str) -> None:
    scheduled = memory(program, target).scheduled
    made = np.where(scheduled.row >= 0, scheduled.schedule.position[scheduled.row], -1)
    for trace in scheduled.assignment.traces:
        if trace.ordered:
            at = made[trace.value[trace.kind != buffer_assignment.FREE]]
            inside_async = np.isin(
                scheduled.ops.opcode[scheduled.row[trace.value[trace.kind != buffer_assignment.FREE]]], [b"async-start"]
            )
            assert (np.diff(at[~inside_async]) >= 0).all()


def test_padding_is_that_of_the_tiles() -> None:
    needs("v5e:2x2")
    found = memory("small", "v5e:2x2")
    table = {row["buffer"]: row for row in found.peak_set.rows()}
    assert table["w"]["size"] == 128 * 512 * 4 and table["w"]["padding"] == 0
    assert found.results.take([0])["size"][0] == 512 and found.results["padding"][0] == 508


@pytest.mark.parametrize("target", TARGETS)
def test_a_residual_is_made_forward_and_read_backward(target: str) -> None:
    needs(target)
    scheduled = memory("transformer_gradient", target).scheduled
    kept = np.flatnonzero(scheduled.buffers.kind == buffers.Kind.RESIDUAL)
    assert len(kept)
    names = scheduled.ops.names
    text = {names[row].decode() for row in scheduled.buffers.instruction[kept]}
    assert not any("transpose(" in scope for scope in _scopes(scheduled, text))


def _scopes(scheduled: Any, names: set[str]) -> list[str]:
    module = hlo.parse(scheduled.assignment.module)
    return [module.scopes[s] for n, s in zip(module.names, module.scope, strict=True) if n.decode() in names and s >= 0]


def chain(x: jax.Array) -> jax.Array:
    """Three products: while one is computed x, the one before and the new one live; the first is put where the result
    will be."""
    return ((x @ x) @ x) @ x


def test_a_chain_counted_by_hand() -> None:
    one = 256 * 256 * 4
    found = inspect(chain, jnp.ones((256, 256)), stage="lower").memory
    assert [space.peak for space in found.spaces] == [3 * one]
    assert sorted(found.peak_set["kind"]) == ["argument", "output", "temporary"]
    assert set(found.peak_set["shape"]) == {"f32[256,256]"}
    line = str(chain.__code__.co_firstlineno + 3)
    assert {row["line"].rpartition(":")[2] for row in found.peak_set.rows()} == {"", line}


def test_a_loops_carry_is_one_buffer() -> None:
    def loop(x: jax.Array) -> jax.Array:
        return jax.lax.fori_loop(0, 10, lambda i, c: jnp.sin(c) @ x, x)

    one = 128 * 128 * 4
    found = inspect(loop, jnp.ones((128, 128)), stage="lower").memory
    large = [row for row in found.buffers.rows() if row["size"] == one]
    assert len(large) <= 4
    assert found.space().peak < 5 * one


@functools.cache
def dumped(program: str, folder: Path) -> tuple[bytes, str]:
    """(HloProto, XLA's live ranges) of one compile in this process."""
    function, arguments = PROGRAMS[program]
    jitted = function if hasattr(function, "lower") else jax.jit(function)
    flags = {"xla_dump_to": str(folder), "xla_dump_hlo_as_proto": True, "xla_dump_hlo_as_text": True}
    jitted.lower(*arguments).compile(compiler_options=flags)
    [proto], [text] = folder.glob("*after_optimizations.hlo.pb"), folder.glob("*live-range.txt")
    return proto.read_bytes(), text.read_text()


@pytest.mark.parametrize("program", [name for name in PROGRAMS if name not in ("pmap", "callback")])
def test_lives_are_xlas_live_ranges(program: str, tmp_path: Path) -> None:
    """One that is read last where its memory is handed on ends one place earlier here."""
    proto, text = dumped(program, tmp_path)
    assignment = buffer_assignment.read(proto)
    assert assignment is not None
    ops = hlo.parse(assignment.module)
    schedule = hlo_schedule.read(ops)
    assert schedule is not None
    assert [ops.names[row].decode() for row in schedule.order] == re.findall(r"^    \d+:(\S+)$", text, re.MULTILINE)
    scheduled = buffers.read(ops, assignment, schedule, [""] * len(ops))
    ranges = {
        name: (int(start), int(end))
        for name, start, end in re.findall(r"^    (\S+\{[\d,]*\}):(\d+)-(\d+)$", text, re.MULTILINE)
    }
    lives, same = scheduled.lives, 0
    for i in range(len(lives)):
        members = [ranges[_name(scheduled, int(value))] for value in lives.member[lives.member_of == i]]
        start, end = min(r[0] for r in members), max(r[1] for r in members)
        assert lives.start[i] == start
        assert end - 1 <= lives.end[i] <= end
        same += lives.end[i] == end
    assert len(lives) - same <= max(1, 0.15 * len(lives))


def _name(scheduled: Any, value: int) -> str:
    index = ",".join(map(str, scheduled.assignment.values.index[value]))
    return f"{scheduled.ops.names[scheduled.row[value]].decode()}{{{index}}}"


def test_the_peak_set_is_xlas(tmp_path: Path) -> None:
    """Field 5 of the assignment: XLA's own list of what lives at the peak of the temporary memory."""
    proto, _ = dumped("step", tmp_path)
    assignment = buffer_assignment.read(proto)
    assert assignment is not None
    ops = hlo.parse(assignment.module)
    schedule = hlo_schedule.read(ops)
    assert schedule is not None
    scheduled = buffers.read(ops, assignment, schedule, [""] * len(ops))
    curve = sum(
        scheduled.buffers.size[i] * ((np.arange(len(schedule)) >= s) & (np.arange(len(schedule)) <= e))
        for i, (s, e) in enumerate(zip(scheduled.buffers.start, scheduled.buffers.end, strict=True))
    )
    ours = {
        _name(scheduled, int(scheduled.buffers.value[row]))
        for row in scheduled.buffers.at(int(np.argmax(curve)), 0)
        if row >= scheduled.first_life
    }
    assert ours == {name for name in _peak_buffers(proto, scheduled) if name}


def _peak_buffers(proto: bytes, scheduled: Any) -> set[str]:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    kind = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="peak.proto", package="peak", syntax="proto3")
    for name, fields in {
        "Peak": [("index", 1, kind.TYPE_INT64, 1), ("ids", 2, kind.TYPE_INT64, 3)],
        "Value": [("id", 1, kind.TYPE_INT64, 1)],
        "Assignment": [("values", 1, ".peak.Value", 3), ("peaks", 5, ".peak.Peak", 3)],
        "Dumped": [("assignment", 3, ".peak.Assignment", 1)],
    }.items():
        message = file.message_type.add(name=name)
        for field, number, type_, label in fields:
            added = message.field.add(name=field, number=number, label=label)
            if isinstance(type_, str):
                added.type, added.type_name = kind.TYPE_MESSAGE, type_
            else:
                added.type = type_
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    dumped = message_factory.GetMessageClass(pool.FindMessageTypeByName("peak.Dumped")).FromString(proto)
    row = {value.id: i for i, value in enumerate(dumped.assignment.values)}
    temporary = set(np.flatnonzero(scheduled.assignment.allocations.temporary).tolist())
    ids = [i for peak in dumped.assignment.peaks if peak.index in temporary for i in peak.ids]
    return {_name(scheduled, row[i]) for i in ids}


def test_a_second_look_asks_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    function, arguments = PROGRAMS["small"]
    looks = []
    for _ in range(2):  # from one line, which is a part of the program
        asked = calls_of(monkeypatch, worker, "ask")
        looks.append(inspect(function, *arguments, stage="lower", target="cpu:2").memory.to_json())
    assert looks[0] == looks[1]
    assert asked == []


def test_what_the_worker_answers_is_asked_in_the_lane_of_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    original = worker.ask
    monkeypatch.setattr(worker, "ask", lambda *a, **k: seen.append(k["lane"]) or original(*a, **k))
    inspection = inspect(lambda x: jnp.cos(x) * 3.25, jnp.ones(7), stage="lower", target="cpu:2")
    memory_look.recompile(inspection.program.staged)
    assert seen == [worker.RECOMPILE]
