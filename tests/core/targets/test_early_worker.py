"""A target's worker is started before JAX traces, once, and only where a compile will need it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import pytest

from jaxstage_ext import inspect
from jaxstage_ext.core.targets import prepared
from jaxstage_ext.core.targets.target import parse_all
from jaxstage_ext.ir.hlo import whole_module
from jaxstage_ext.store import cache
from jaxstage_ext.worker import pool


@pytest.fixture
def order(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What was done: workers that were started by platform, and traces."""
    pool.close_all()
    cache.clear()
    done: list[str] = []
    start = pool._new

    def new(platform: str, *rest: Any) -> Any:
        done.append(platform)
        return start(platform, *rest)

    monkeypatch.setattr(pool, "_new", new)
    yield done
    cache.use_folder(None)
    pool.close_all()


def test_it_starts_before_the_trace_and_compiles(order: list[str]) -> None:
    def traced(x: Any) -> Any:
        order.append("trace")
        return jnp.tanh(x)

    ins = inspect(traced, jnp.ones(3), target="cpu:2")
    assert ins.documents["hlo"].text
    assert order == ["cpu", "trace"]


@pytest.mark.parametrize("stage", ["trace", "lower"])
def test_it_does_not_start_for_what_is_not_compiled(order: list[str], stage: str) -> None:
    inspect(jnp.tanh, jnp.ones(3), target="cpu:2", stage=stage)
    assert order == []


def test_it_does_not_start_for_this_kernel_nor_where_a_folder_may_have_the_answer(
    order: list[str], tmp_path: Path
) -> None:
    prepared.start(parse_all("local"))
    cache.use_folder(tmp_path)
    prepared.start(parse_all("cpu:2"))
    assert order == []


def test_what_was_found_whole_is_not_parsed_again_for_that(order: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    ins = inspect(jnp.sin, jnp.ones(3), target="cpu:2")
    proto, text = ins.program.proto(), ins.program.executable.text
    asked: list[bytes] = []
    read = whole_module.read
    monkeypatch.setattr(whole_module, "read", lambda given: (asked.append(given), read(given))[1])
    cache.clear()
    for _ in range(3):
        whole_module.check(proto, text)
    assert asked == [proto]
    with pytest.raises(ValueError, match="text"):
        whole_module.check(proto, text.replace("HloModule", "HloNodule"))
