"""What is said of each compile, against the files that JAX wrote or did not write."""

from __future__ import annotations

import importlib
import shutil
import types
import warnings
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from cache_folder import CacheFolder
from jax import monitoring
from jax._src import compilation_cache, distributed

from jaxstage_ext.compilation.persistent import process_tally, watching
from jaxstage_ext.compilation.persistent.cache_report import cache_report
from jaxstage_ext.compilation.records.compile_record import CacheOutcome
from jaxstage_ext.core.jax_private import persistent_cache

X = np.ones((4, 4), np.float32)
WRITES_CALLBACKS = not hasattr(__import__("jax._src.cache_key")._src.cache_key, "IgnoreCallbacks")


def square(x: Any) -> Any:
    return x @ x


def test_written_then_hit(folder: CacheFolder) -> None:
    written = folder.compile(square, X)
    assert written.outcome is CacheOutcome.WRITTEN
    assert [written.key] == folder.entries()
    assert written.folder == str(folder.path)
    assert written.entry_bytes == folder.file(written.key).stat().st_size
    hit = folder.compile(square, X)
    assert hit.outcome is CacheOutcome.HIT
    assert hit.key == written.key
    assert hit.check == "verified"
    assert hit.read_seconds is not None and hit.read_seconds > 0
    assert hit.compile_seconds is not None and hit.saved_seconds == hit.compile_seconds - hit.read_seconds


def test_a_hit_of_an_entry_that_nobody_recorded_has_no_saved_time(
    folder: CacheFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """JAX stores whole seconds, so that of a short compile nothing is known."""
    put = compilation_cache.put_executable_and_time
    monkeypatch.setattr(compilation_cache, "put_executable_and_time", lambda *given: put(*given[:-1], 0))
    folder.compile(square, X)
    shutil.rmtree(tmp_path / "records")
    hit = folder.compile(square, X)
    assert (hit.outcome, hit.check) == (CacheOutcome.HIT, "not verified")
    assert hit.saved_seconds is None
    assert hit.compile_seconds is None
    assert process_tally.tally().hits_without_time == 1


def test_faster_than_the_limit(folder: CacheFolder) -> None:
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 100.0)
    assert folder.compile(square, X).outcome is CacheOutcome.FASTER_THAN_LIMIT
    assert folder.entries() == []


def test_smaller_than_the_limit(folder: CacheFolder) -> None:
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", 10**9)
    assert folder.compile(square, X).outcome is CacheOutcome.SMALLER_THAN_LIMIT
    assert folder.entries() == []


def test_no_folder(folder: CacheFolder) -> None:
    folder.use(Path())
    jax.config.update("jax_compilation_cache_dir", None)
    made = folder.compile(square, X)
    assert (made.outcome, made.folder) == (CacheOutcome.OFF, "")
    assert made.key.startswith("jit_square-")


def test_only_the_first_process_writes(folder: CacheFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distributed.global_state, "process_id", 1)
    assert folder.compile(square, X).outcome is CacheOutcome.NOT_FIRST_PROCESS
    assert folder.entries() == []


def test_python_callbacks(folder: CacheFolder) -> None:
    def f(x: Any) -> Any:
        jax.debug.callback(lambda value: None, x)
        return x + 1

    made = folder.compile(f, X)
    assert made.outcome is (CacheOutcome.WRITTEN if WRITES_CALLBACKS else CacheOutcome.NOT_SERIALISABLE)
    assert folder.entries() == ([made.key] if WRITES_CALLBACKS else [])


@pytest.mark.parametrize("junk", [b"", b"junk", None], ids=["empty", "junk", "truncated"])
def test_an_entry_that_cannot_be_read(folder: CacheFolder, junk: bytes | None, tmp_path: Path) -> None:
    key = folder.compile(square, X).key
    shutil.rmtree(tmp_path / "records")  # written by a process without JAXStage
    whole = folder.file(key).read_bytes()
    folder.file(key).write_bytes(whole[: len(whole) // 2] if junk is None else junk)
    for _ in range(2):  # JAX leaves it as it is
        with pytest.warns(UserWarning, match="Error reading persistent compilation cache"):
            assert folder.compile(square, X).outcome is CacheOutcome.UNREADABLE


@pytest.mark.filterwarnings("ignore:Error reading")
def test_an_entry_that_cannot_be_read_is_no_matter_of_the_thresholds(folder: CacheFolder, tmp_path: Path) -> None:
    """The program would not be written either, but it was there to be read."""
    key = folder.compile(square, X).key
    shutil.rmtree(tmp_path / "records")
    folder.file(key).write_bytes(b"junk")
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 100.0)
    assert folder.compile(square, X).outcome is CacheOutcome.UNREADABLE


def test_the_folder_is_gone(folder: CacheFolder) -> None:
    folder.compile(square, X)
    shutil.rmtree(folder.path)
    with pytest.warns(UserWarning, match="Error writing"):
        assert folder.compile(lambda x: x - 5, X).outcome is CacheOutcome.WRITE_FAILED


def test_no_permission(folder: CacheFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.compile(square, X)
    monkeypatch.setattr(_path_type(), "write_bytes", _refuse(PermissionError(13, "Permission denied")))
    with pytest.warns(UserWarning, match="Permission denied"):
        assert folder.compile(lambda x: x - 5, X).outcome is CacheOutcome.WRITE_FAILED
    assert folder.compile(square, X).outcome is CacheOutcome.HIT


def test_a_full_disk_leaves_half_an_entry(folder: CacheFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.compile(square, X)
    whole = _path_type().write_bytes

    def half(path: Path, data: Any) -> int:
        whole(path, data[: len(data) // 2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_path_type(), "write_bytes", half)
    with pytest.warns(UserWarning, match="No space left"):
        made = folder.compile(lambda x: x - 5, X)
    assert made.outcome is CacheOutcome.WRITE_FAILED
    assert folder.file(made.key).exists()


def _path_type() -> Any:
    """The paths that JAX writes entries with: those of etils where that is installed."""
    cache: Any = compilation_cache._cache
    return type(cache.path)


def _refuse(error: OSError) -> Any:
    def refuse(*args: Any) -> None:
        raise error

    return refuse


def test_a_failed_compile_is_unknown(folder: CacheFolder) -> None:
    with pytest.raises(Exception, match="xla_no_such_flag"):
        folder.compile(square, X, compiler_options={"xla_no_such_flag": "1"})
    assert all(made.outcome is CacheOutcome.UNKNOWN for made in folder.facts)
    assert folder.entries() == []


def test_larger_than_the_folder_may_be(folder: CacheFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    with_locks(monkeypatch)
    jax.config.update("jax_compilation_cache_max_size", 100)
    folder.use()
    with pytest.warns(UserWarning, match="exceeds the maximum cache size"):
        assert folder.compile(square, X).outcome is CacheOutcome.LARGER_THAN_LIMIT
    assert folder.entries() == []


def test_an_evicted_entry_is_written_once_more(folder: CacheFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    with_locks(monkeypatch)
    jax.config.update("jax_compilation_cache_max_size", 6000)
    folder.use()
    first = folder.compile(square, X)
    folder.compile(lambda x: jnp.tanh(x) @ x, X)
    folder.compile(lambda x: jnp.cos(x) @ x, X)
    assert first.key not in folder.entries()
    assert folder.compile(square, X).outcome is CacheOutcome.WRITTEN
    assert first.key in folder.entries()


def with_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    """JAX limits the size of a folder only where `filelock` is installed."""
    from jax._src import lru_cache

    class FileLock:
        def __init__(self, path: Any) -> None:
            pass

        def acquire(self, timeout: float | None = None) -> None:
            pass

        def release(self) -> None:
            pass

    made: Any = types.ModuleType("filelock")
    made.FileLock = made.SoftFileLock = FileLock
    monkeypatch.setattr(lru_cache, "filelock", made)


def test_nothing_that_fails_in_the_listener_reaches_the_user(
    folder: CacheFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: Any) -> Any:
        raise RuntimeError("broken")

    for name in ("current_request", "state", "write_limits"):
        with monkeypatch.context() as broken:
            broken.setattr(persistent_cache, name, fail)
            jax.clear_caches()
            assert (np.asarray(jax.jit(square)(X)) == X @ X).all()


def test_listeners_that_the_user_removed_are_registered_by_start(folder: CacheFolder) -> None:
    from jax._src import monitoring as internal

    events, durations = internal.get_event_listeners(), internal.get_event_duration_listeners()
    monitoring.clear_event_listeners()
    watching.start()
    watching.start()
    assert len([each for each in internal.get_event_listeners() if each is watching._on_event]) == 1
    for listener in events:
        if listener is not watching._on_event:
            monitoring.register_event_listener(listener)
    for listener in durations:
        if listener is not watching._on_duration:
            monitoring.register_event_duration_secs_listener(listener)


def unpacking_error() -> type[Exception]:
    """What JAX's decompressor raises of junk: zstd's, which Python has from 3.14 on, or zlib's."""
    try:
        return importlib.import_module("compression.zstd").ZstdError
    except ImportError:
        return zlib.error


def test_raised_errors_name_the_cache_the_file_and_the_remedy(folder: CacheFolder) -> None:
    key = folder.compile(square, X).key
    folder.file(key).write_bytes(b"junk")
    jax.config.update("jax_raise_persistent_cache_errors", True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(unpacking_error()) as raised:
            folder.compile(square, X)
    [note] = [note for note in raised.value.__notes__ if "persistent compilation cache" in note]
    assert str(folder.file(key)) in note
    assert str(folder.path) in note
    assert "jaxstage_ext.compile_cache(set_aside=True)" in note
    assert folder.facts[-1].outcome is CacheOutcome.UNREADABLE


def test_two_processes_on_one_folder(folder: CacheFolder) -> None:
    code = "jax.jit(lambda x: jnp.sin(x) @ x)(jnp.ones((4, 4))); f = all_facts[-1]; "
    code += "print(f.outcome.name, f.check or '-', f.saved_seconds)"
    assert folder.process(code).split()[0] == "WRITTEN"
    outcome, check, saved = folder.process(code).split()[:3]
    assert (outcome, check) == ("HIT", "verified")
    assert float(saved) > -1
    assert len([key for key in folder.entries() if key.startswith("jit__lambda-")]) == 1


def test_two_processes_at_once(folder: CacheFolder) -> None:
    """Each entry has a whole record, whoever wrote it last."""
    code = (
        "outcomes = []\n"
        "for n in range(12):\n"
        "    jax.jit(lambda x: x * (n + 2))(jnp.ones(4))\n"
        "    outcomes.append(all_facts[-1].outcome.name)\n"
        "print(*outcomes)"
    )
    with ThreadPoolExecutor(2) as pool:
        said = list(pool.map(lambda _: folder.process(code).splitlines()[0].split(), range(2)))
    assert all(len(outcomes) == 12 and "OFF" not in outcomes for outcomes in said)
    report = cache_report(verify=True)
    assert sorted(entry.key for entry in report.entries) == folder.entries()
    assert all(entry.record is not None for entry in report.entries)


def test_threads_have_compiles_of_their_own(folder: CacheFolder) -> None:
    def compiled(n: int) -> None:
        jax.jit(lambda x: jnp.sin(x) * n)(X)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(compiled, range(2, 14)))
    written = [made for made in folder.facts if made.outcome is CacheOutcome.WRITTEN]
    assert sorted(made.key for made in written) == folder.entries()
