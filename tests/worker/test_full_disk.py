"""A disk, a quota or a limit that is full: what XLA dumps is whole, or an error that says what to do; none is kept."""

from __future__ import annotations

import contextlib
import resource
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from crossed import crossed

from jaxstage_ext import inspect
from jaxstage_ext.api.inspection import Inspection
from jaxstage_ext.core.recompile import machine_code, pass_pipeline, preparation, recompiled_buffers
from jaxstage_ext.store import cache
from jaxstage_ext.worker import folder as worker_folder
from jaxstage_ext.worker import pool
from jaxstage_ext.worker.inside import dump_room
from jaxstage_ext.worker.inside.dump_room import DumpCut

pytestmark = pytest.mark.usefixtures("writes_no_bytecode", "workers_of_our_own")


@pytest.fixture
def writes_no_bytecode(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before Python 3.13.1 (gh-126606) a limit cuts the bytecode of what a worker imports, which then nobody can."""
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")


def loss(x: Any, weights: Any) -> Any:
    for weight in weights:
        hidden = jax.nn.gelu(x @ weight)
        x = x + (hidden - hidden.mean(-1, keepdims=True)) / jnp.sqrt(hidden.var(-1, keepdims=True) + 1e-6)
    return jnp.sum(jax.nn.softmax(x) ** 2)


def lowered() -> Inspection:
    arguments = np.ones((8, 16), np.float32), [np.ones((16, 16), np.float32)] * 4
    return inspect(jax.grad(loss), *arguments, target="cpu:2")


def passes(inspection: Inspection) -> Any:
    found = pass_pipeline.recompile_passes(inspection.program.staged)
    return [(step.pipeline, step.name, step.version) for step in found], list(found.versions), found.complete


def kernels(inspection: Inspection) -> Any:
    staged = inspection.program.staged
    text = inspection.documents["hlo"].text
    return machine_code.dumped(preparation.prepared(staged), text, True, staged.limits, None)


def memory(inspection: Inspection) -> Any:
    return recompiled_buffers.recompile(inspection.program.staged)


RECOMPILES = {"passes": passes, "kernels": kernels, "memory": memory}


@contextlib.contextmanager
def files_of_at_most(size: int, inspection: Inspection) -> Iterator[None]:
    """A limit on what the program's worker may write into one file, which cuts XLA's as a full disk does."""
    environment = preparation.prepared(inspection.program.staged).environment
    pool.ask("cpu", {"method": "ping"}, lane=pool.RECOMPILE, environment=environment)
    pid = pool.running()["cpu/recompile"]
    before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(pid, resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize(("size", "method"), crossed([70_000, 0], RECOMPILES))
def test_what_a_limit_cuts_is_an_error_and_is_not_kept(method: str, size: int, tmp_path: Path) -> None:
    """Found on a disk of 2.5 MB: 91 of 239 passes as complete, 11 modules cut, and kept for later kernels."""
    cache.use_folder(tmp_path / "cache")
    inspection = lowered()
    kept = set((tmp_path / "cache").iterdir())
    with files_of_at_most(size, inspection):
        try:
            found = RECOMPILES[method](inspection)
        except OSError as error:
            assert "set TMPDIR to another folder and restart the kernel" in str(error), error
            assert set((tmp_path / "cache").iterdir()) == kept
            found = None
    cache.clear()
    right = RECOMPILES[method](inspection)
    assert found in (None, right) and (size or found is None)
    assert set((tmp_path / "cache").iterdir()) > kept, "a whole one is"


def test_propagation_that_a_limit_cuts_is_an_error() -> None:
    mesh = jax.sharding.AbstractMesh((2,), ("data",))
    split = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("data"))
    argument = jax.ShapeDtypeStruct((8, 16), np.float32)
    inspection = inspect(jax.jit(lambda x: jnp.tanh(x @ x.T), in_shardings=split), argument, target="cpu:2")
    told = "set TMPDIR to another folder and restart the kernel"
    with files_of_at_most(512, inspection), pytest.raises(OSError, match=told):
        pass_pipeline.recompile_to_partitioner(inspection.program.staged)
    assert pass_pipeline.recompile_to_partitioner(inspection.program.staged).module


class Usage(NamedTuple):
    total: int
    used: int
    free: int


def disk_with(free: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(10**12, 10**12 - free, free))


def test_free_space_is_looked_at_however_little_was_dumped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dump-x").mkdir()
    disk_with(3_000_000, monkeypatch)
    assert (worker_folder.too_full(tmp_path) or "").startswith("wrote 0.00 GB and left 0.00 GB on the disk of ")
    disk_with(worker_folder.LEAST, monkeypatch)
    assert worker_folder.too_full(tmp_path) is None
    (tmp_path / "dump-x" / "module.txt").write_bytes(bytes(worker_folder.LEAST + 1))
    assert worker_folder.too_full(tmp_path) is not None, "who writes much leaves more"


def test_a_worker_that_dumps_nothing_needs_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "log").write_text("")
    disk_with(0, monkeypatch)
    assert worker_folder.too_full(tmp_path) is None


def test_no_room_is_told_with_what_there_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dump_room.check(tmp_path)
    disk_with(2_500_000, monkeypatch)
    with pytest.raises(DumpCut, match=r"XLA's dumps need 16 MB, and /.* has 2.5 MB free; make room on the disk of /"):
        dump_room.check(tmp_path)


def test_a_quota_that_is_used_up_shows_in_a_write(tmp_path: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(DumpCut, match="a file could not be written"):
            dump_room.check(tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not list(tmp_path.iterdir())


def test_another_error_stays_what_it_is(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), dump_room.written_whole():
        (tmp_path / "nowhere" / "file").write_bytes(b"")
