"""What JAX itself leaves of a compile: the files of `jax_dump_ir_to`, and XLA's fingerprint of the executable."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from jaxstage_ext import inspect
from jaxstage_ext.program.head.notes import notes

X = jnp.ones(5)


@pytest.fixture
def dumps(tmp_path: Path) -> Iterator[Path]:
    jax.config.update("jax_dump_ir_to", str(tmp_path / "ir"))
    yield tmp_path / "ir"
    jax.config.update("jax_dump_ir_to", "")


def test_the_files_that_jax_dumps_are_named(dumps: Path) -> None:
    first = inspect(lambda x: x * 7, X)
    written = sorted(file.name for file in dumps.iterdir())
    assert written and first.program.staged.dumped == tuple(written)
    [note] = [note for note in notes(first.program) if "jax_dump_ir_to" in note]
    assert all(name in note for name in written)
    second = inspect(lambda x: x * 8, X)
    assert not set(second.program.staged.dumped) & set(written), "a call has its own files alone"


def test_without_a_dump_nothing_is_said() -> None:
    assert not [note for note in notes(inspect(lambda x: x * 9, X).program) if "jax_dump_ir_to" in note]


def test_the_fingerprint_is_that_of_the_executable() -> None:
    made = inspect(lambda x: x * 10, X)
    known = made.compiled.runtime_executable().fingerprint
    expected = known.decode() if isinstance(known, bytes) else known
    assert (f"fingerprint of the executable: {expected}." in str(made.options)) is bool(expected)
    assert "fingerprint" not in str(inspect(lambda x: x * 10, X, target="cpu:2").options)
