"""Where there is no job of several processes, a pre-flight does nothing, and looking changes nothing."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from jax._src import config, monitoring

import jaxstage_ext
from jaxstage_ext.core.jax_private import pending_compile
from jaxstage_ext.processes import guarding


def listeners() -> tuple[int, int, int]:
    scalars, durations = monitoring._scalar_listeners, monitoring._event_duration_secs_listeners
    return len(scalars), len(durations), len(monitoring._event_listeners)


def test_a_block_leaves_jax_as_it_was_and_reads_no_program(monkeypatch: pytest.MonkeyPatch) -> None:
    step = jax.jit(lambda x: x * 2)
    step(jnp.ones(3))
    before, context, cached = listeners(), config.trace_context(), step._cache_size()
    read: list[object] = []
    monkeypatch.setattr(pending_compile, "pending_compile", read.append)
    with jaxstage_ext.preflight() as guard:
        assert float(step(jnp.ones(3))[0]) == 2.0
        jax.jit(lambda x: x + 1)(jnp.ones(5))
    assert (listeners(), config.trace_context(), step._cache_size()) == (before, context, cached)
    assert (guard.compared, read) == (0, [])


def test_an_error_leaves_the_block_as_it_is_and_ends_it() -> None:
    before, error = listeners(), KeyError("mine")
    with pytest.raises(KeyError) as raised, jaxstage_ext.preflight():
        raise error
    assert raised.value is error and listeners() == before and not guarding.is_on()


def test_an_inner_block_is_part_of_the_outer_one() -> None:
    with jaxstage_ext.preflight() as outer:
        with jaxstage_ext.preflight() as inner:
            assert inner is outer
        assert guarding.is_on()
    assert not guarding.is_on()


@pytest.mark.parametrize("timeout", [0, -1.0, True, "60", float("nan")])
def test_a_timeout_that_is_none_is_refused_before_anything_begins(timeout: object) -> None:
    with pytest.raises(ValueError, match=r"timeout"), jaxstage_ext.preflight(timeout=timeout):  # type: ignore[arg-type]
        pytest.fail("the block has begun")
    assert not guarding.is_on()
