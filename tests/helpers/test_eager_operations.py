"""Operations of JAX's own that run by themselves are kept and give the same; programs are compiled each time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import compiled_once
import eager_operations
import jax
import jax.numpy as jnp
import numpy as np
import pytest

X = np.arange(15, dtype=np.float32).reshape(3, 5)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    jax.clear_caches()
    monkeypatch.setattr(compiled_once, "folder", lambda _: tmp_path)
    with eager_operations.kept():
        yield tmp_path


def test_they_are_kept_and_give_the_same(folder: Path) -> None:
    def made() -> list[np.ndarray]:
        key = jax.random.key(3)
        return [np.asarray(a) for a in (jnp.ones((3, 7)), jnp.where(X > 3, X, 0), jax.random.normal(key, (3, 5)))]

    first, kept = made(), set(folder.iterdir())
    jax.clear_caches()
    again = made()
    assert len(kept) > 3
    assert set(folder.iterdir()) == kept
    for one, other in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(first[1], np.where(X > 3, X, 0))


def test_programs_are_not(folder: Path) -> None:
    step = jax.jit(lambda x: jnp.tanh(x @ x.T))
    jax.block_until_ready(
        (step(X), jax.vmap(jax.jit(lambda x: x * 3))(X), jax.lax.scan(lambda c, x: (c + x, x), X[0], X))
    )
    step.lower(np.ones((2, 2), np.float32)).compile()
    assert not list(folder.iterdir())


def test_another_operation_is_compiled_itself(folder: Path) -> None:
    three, four = jnp.full((3,), 3.0), jnp.full((3,), 4.0)
    assert (three + four).tolist() == [7.0] * 3
    kept = len(list(folder.iterdir()))
    assert (three * four).tolist() == [12.0] * 3
    assert len(list(folder.iterdir())) == kept + 1
