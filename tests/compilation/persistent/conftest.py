"""A cache folder for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import pytest
from cache_folder import CacheFolder
from jax import monitoring
from jax._src import compilation_cache

from jaxstage_ext.compilation.events import listening
from jaxstage_ext.compilation.persistent import damaged_entries, flag_watch, process_tally, record_store, watching
from jaxstage_ext.report import kernel_settings
from jaxstage_ext.report.kernel_settings import DamagedPolicy

_ENDED = "/jax/core/compile/backend_compile_duration"
_CONFIG = (
    "jax_compilation_cache_dir",
    "jax_enable_compilation_cache",
    "jax_persistent_cache_min_compile_time_secs",
    "jax_persistent_cache_min_entry_size_bytes",
    "jax_compilation_cache_max_size",
    "jax_raise_persistent_cache_errors",
    "jax_compilation_cache_include_metadata_in_key",
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[CacheFolder]:
    """A folder that JAX writes every program to, as a fresh kernel finds it."""
    monkeypatch.setenv("JAXSTAGE_RECORDS_DIR", str(tmp_path / "records"))
    record_store.records_of.cache_clear()
    before = {name: getattr(jax.config, name) for name in _CONFIG}
    used = CacheFolder(tmp_path / "cache")

    def ended(event: str, seconds: float, **details: Any) -> None:
        if event == _ENDED and used.takes_facts and (facts := watching.take()) is not None:
            used.facts.append(facts)

    listening.stop()  # the log would take the facts
    process_tally.forget()
    monkeypatch.setattr(flag_watch, "_flags", flag_watch._Flags())
    monkeypatch.setattr(damaged_entries, "_reports", damaged_entries._Reports())
    watching.start()
    monitoring.register_event_duration_secs_listener(ended)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    used.use()
    yield used
    listening.stop()
    kernel_settings.change(damaged_entries=DamagedPolicy.ASK)
    monitoring.unregister_event_duration_listener(ended)
    watching.stop()
    for name, value in before.items():
        jax.config.update(name, value)
    compilation_cache.reset_cache()
    jax.clear_caches()
    record_store.records_of.cache_clear()
