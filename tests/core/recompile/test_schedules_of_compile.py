"""A GPU's predicted schedule comes with its compile, of the same module as without it; else it is asked for once."""

from __future__ import annotations

import hashlib
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from absent import needs
from jax.sharding import PartitionSpec as P

import jaxstage_ext
from jaxstage_ext.api.inspection import Inspection
from jaxstage_ext.core.recompile import preparation, recompiled_schedule
from jaxstage_ext.core.targets import cross_compile
from jaxstage_ext.ir.schedules import written_schedule
from jaxstage_ext.store import cache
from jaxstage_ext.worker import pool
from jaxstage_ext.worker.inside import schedule_dump
from tests.golden.schedules.record import VERSIONS, kept

W, X = jax.ShapeDtypeStruct((2048, 2048), jnp.float32), jax.ShapeDtypeStruct((8192, 2048), jnp.float32)


def loss(w: Any, x: Any) -> Any:
    return jnp.sum(jnp.tanh(jnp.tanh(x @ w) @ w))


def inspected(**more: Any) -> Inspection:
    needs("h100:8")
    return jaxstage_ext.inspect(jax.grad(loss), W, X, target="h100:8", mesh="data=8", in_specs={"x": P("data")}, **more)


def dumped(inspection: Inspection) -> recompiled_schedule.DumpedSchedule:
    return recompiled_schedule.dumped(inspection.program.staged, False)


@pytest.mark.parametrize("is_cached", [True, False])
def test_nothing_is_compiled_for_it(is_cached: bool, asked: list[str]) -> None:
    cache.enable(is_cached)
    found = inspected()
    made = dumped(found)
    assert asked.count("compile") == 1 and "schedule" not in asked
    assert made.proto is not None and made.is_of_shown and (found.compiled.schedule is None) is is_cached
    names = {name.decode() for name in written_schedule.read(made.proto).module.names}
    assert any("all-reduce" in name for name in names)


def test_the_module_is_that_of_a_compile_without_the_option(tmp_path: Path) -> None:
    """With options of the user's for dumps the worker adds none of its own."""
    plain = inspected(compiler_options={"xla_dump_to": str(tmp_path), "xla_dump_hlo_as_text": True})
    assert not list(tmp_path.glob("*.schedule*"))
    assert inspected().program.executable.text == plain.program.executable.text


def test_without_it_the_program_is_compiled_once_more_and_checked(asked: list[str]) -> None:
    found = inspected()
    cache.clear()
    assert dumped(found) == dumped(found)
    assert asked.count("schedule") == 1 and dumped(found).is_of_shown


def test_that_of_another_module_is_matched_with_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    found = inspected()
    cache.clear()
    ask = pool.ask

    def another(platform: str, request: Any, *how: Any, **more: Any) -> Any:
        return ask(platform, {**request, "wanted": hashlib.sha256(b"another").hexdigest()}, *how, **more)

    monkeypatch.setattr(pool, "ask", another)
    assert not dumped(found).is_of_shown
    with pytest.raises(ValueError, match="compiled the program differently"):
        _ = found.predicted


def test_a_kept_one_of_another_module_is_not_taken(asked: list[str]) -> None:
    found = inspected()
    stage = found.program.staged.stages[-1]
    stage.value = replace(stage.value, text=stage.value.text.replace("fusion", "fuzion"))
    assert not dumped(found).is_of_shown and asked.count("schedule") == 1


@pytest.mark.parametrize("damaged", [b"", b"cut", zlib.compress(b"no schedule"), zlib.compress(b"\x0a\x7f")])
def test_a_damaged_entry_is_asked_for_anew(damaged: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    found = inspected()
    prepared = preparation.prepared(found.program.staged)
    right = {"schedule": zlib.compress(kept(VERSIONS[1], "data_parallel")[0]), "bytes": 9, "log": "", "same": True}
    cross_compile.keep_schedule(prepared, {**right, "schedule": damaged}, found.program.executable.text)
    monkeypatch.setattr(pool, "ask", lambda platform, request, *how, **more: right)
    made = dumped(found)
    assert made.size == 9 and made.proto is not None
    assert dumped(found) == made


def test_it_is_asked_only_of_what_a_worker_compiled() -> None:
    with pytest.raises(ValueError, match="not compiled in a worker"):
        dumped(jaxstage_ext.inspect(lambda x: x + 1, jnp.ones(3)))


@pytest.mark.parametrize("version", VERSIONS)
def test_what_is_kept_names_the_instructions_that_are_scheduled_and_no_more(version: str) -> None:
    proto = kept(version, "scanned_layers")[0]
    read = written_schedule.read(proto)
    ids = {number for one in read.computations for number in one.ids.tolist()}
    assert set(read.module.ids.tolist()) == ids and len(zlib.compress(proto)) < 45 * len(ids)
    assert schedule_dump.shortened(proto) == proto
