"""What the persistent cache's explanation costs."""

from __future__ import annotations

import dataclasses
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax._src import compilation_cache

from jaxstage_ext.compilation.persistent import entry_check, key_differences, missed_entry, record_store
from jaxstage_ext.compilation.persistent.cache_report import cache_report
from jaxstage_ext.compilation.persistent.entry_check import EntryCheck
from jaxstage_ext.compilation.persistent.key_record import packed
from jaxstage_ext.core.jax_private import cache_key_parts
from jaxstage_ext.core.jax_private.cache_key_parts import KeyPart
from tests.benchmarks.table import row

pytestmark = pytest.mark.benchmark


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("JAXSTAGE_RECORDS_DIR", str(tmp_path / "records"))
    record_store.records_of.cache_clear()
    compilation_cache.reset_cache()
    jax.config.update("jax_compilation_cache_dir", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir()
    yield tmp_path / "cache"
    jax.config.update("jax_compilation_cache_dir", None)
    compilation_cache.reset_cache()


def best(run: Callable[[], Any], times: int = 5) -> float:
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def lowered(blocks: int) -> Any:
    def f(x: Any) -> Any:
        for n in range(blocks):
            x = jnp.sin(x) @ x + n
            x = x * 2 - x
        return x

    return jax.jit(f).lower(jnp.ones((8, 8)))


def test_the_parts_of_a_key_and_their_record(folder: Path) -> None:
    program = lowered(445)
    lines = len(program.as_text().splitlines())
    assert lines > 4000
    request = cache_key_parts.request_of(program)

    def record() -> bytes:
        made = missed_entry.made_record(request, None, 0.0)
        assert made
        return packed(made, str(folder))

    seconds = best(record)
    row(
        f"key parts and record of {lines:,} lines of StableHLO",
        f"{seconds * 1e3:.1f} ms",
        "",
        "< 50 ms",
        seconds < 0.05,
    )
    data = packed(missed_entry.made_record(request, None, 0.0), str(folder))  # type: ignore[arg-type]
    row("record of it", f"{len(data) / 1e3:.0f} kB", "", "< 100 kB", len(data) < 100_000)


def test_how_two_keys_differ(folder: Path) -> None:
    before, now = (missed_entry.made_record(cache_key_parts.request_of(lowered(n)), None, 0.0) for n in (445, 446))
    assert before and now
    text = best(lambda: cache_key_parts.stablehlo_text(b"".join(now.parts[KeyPart.COMPUTATION])))
    row("StableHLO of a record as text, 4,000 lines", f"{text * 1e3:.1f} ms", "", "< 50 ms", text < 0.05)
    seconds = best(lambda: key_differences.differences(before, now))
    row("difference of two such keys", f"{seconds * 1e3:.1f} ms", "when shown", "< 200 ms", seconds < 0.2)


def test_a_verified_entry(folder: Path) -> None:
    file = folder / "entry-cache"
    executable = random.Random(0).randbytes(600_000)
    file.write_bytes(compilation_cache.compress_executable(bytes(4) + executable))
    version = entry_check.version(str(file))
    assert version
    seal = entry_check.sealed(file.read_bytes(), version)

    def check() -> None:
        entry_check._kept._checks.clear()
        assert entry_check.check(str(file), seal) is EntryCheck.VERIFIED

    seconds = best(check)
    row("checksum of an entry of 600 kB", f"{seconds * 1e3:.1f} ms", "", "< 5 ms", seconds < 0.005)
    seconds = best(lambda: entry_check.check(str(file), seal))
    row("the same file once more", f"{seconds * 1e6:.0f} µs", "", "< 100 µs", seconds < 1e-4)


def test_five_thousand_entries(folder: Path) -> None:
    made = missed_entry.made_record(cache_key_parts.request_of(lowered(10)), None, 0.0)
    assert made
    store = record_store.records_of(str(folder))
    for n in range(5000):
        record = dataclasses.replace(made, key=f"jit_f-{n:064x}")
        (folder / f"{record.key}-cache").write_bytes(b"\x78junk")
        store.put(record)
    compilation_cache._initialize_cache()
    seconds = best(cache_report, 3)
    assert len(cache_report().entries) == 5000
    row("%compile_cache of 5,000 entries", f"{seconds * 1e3:.0f} ms", "", "< 1 s", seconds < 1)
