"""Failures of the persistent cache name the cache: a folder that cannot be made, a key that cannot, a late switch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from cache_folder import CacheFolder
from jax._src import compilation_cache
from jaxlib import _jax

import jaxstage_ext
from jaxstage_ext.compilation.persistent import cache_wording, process_tally
from jaxstage_ext.compilation.persistent.cache_report import CacheReport, cache_report

X = np.ones(3, np.float32)


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    names = ("jax_enable_compilation_cache", "jax_raise_persistent_cache_errors")
    before = {name: jax.config.values[name] for name in names}
    yield
    for name, value in before.items():
        jax.config.update(name, value)
    compilation_cache.reset_cache()


def said(report: CacheReport) -> str:
    return " ".join([*cache_wording.warnings(report), *cache_wording.sentences(report)])


def test_a_folder_that_cannot_be_opened_is_called_the_cache_s(folder: CacheFolder) -> None:
    """JAX raises FileNotFoundError of the folder alone, where it is told to raise."""
    folder.path.mkdir(parents=True, exist_ok=True)
    (folder.path / "file").write_text("")
    folder.use(folder.path / "file" / "below")
    jax.config.update("jax_raise_persistent_cache_errors", True)
    with pytest.raises(NotADirectoryError) as raised:
        jaxstage_ext.inspect(lambda x: jnp.sin(x) - 31, X)
    [note] = raised.value.__notes__
    assert note.startswith("JAX cannot open its persistent compilation cache, ") and "below" in note
    assert "jax_raise_persistent_cache_errors" in note
    compilation_cache.reset_cache()
    with pytest.raises(NotADirectoryError) as raised:
        jax.jit(lambda x: jnp.sin(x) - 32)(X)
    assert raised.value.__notes__[0] == note, "the user's own call says the same"


def test_a_key_that_cannot_be_made_is_counted(folder: CacheFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*args: Any, **kwargs: Any) -> str:
        raise _jax.JaxRuntimeError("UNIMPLEMENTED: no key")

    folder.use()
    monkeypatch.setattr(compilation_cache, "get_cache_key", refused)
    before = process_tally.tally().without_key
    jaxstage_ext.inspect(lambda x: jnp.sin(x) - 33, X)
    assert process_tally.tally().without_key == before + 1
    assert "could not make the key of" in said(cache_report())
    assert "No compile has asked for it yet" not in said(cache_report())


def test_what_was_compiled_before_is_no_key_that_failed(folder: CacheFolder) -> None:
    def again() -> Any:
        return lambda x: jnp.sin(x) - 34

    folder.use()
    before = process_tally.tally().without_key
    for _ in range(2):  # the second takes the executable of the first
        jaxstage_ext.inspect(again(), X)
    assert process_tally.tally().without_key == before


def test_a_switch_that_comes_too_late_is_said_and_the_advice_works(folder: CacheFolder) -> None:
    """JAX reads jax_enable_compilation_cache once: it goes on writing until reset_cache()."""
    folder.use()
    jax.jit(lambda x: x - 35)(X)
    jax.config.update("jax_enable_compilation_cache", False)
    written = len(folder.entries())
    assert "uses the cache all the same" in said(cache_report())
    jax.jit(lambda x: x - 36)(X)
    assert len(folder.entries()) > written
    compilation_cache.reset_cache()
    assert "uses the cache all the same" not in said(cache_report())
    written = len(folder.entries())
    jax.jit(lambda x: x - 37)(X)
    assert len(folder.entries()) == written
