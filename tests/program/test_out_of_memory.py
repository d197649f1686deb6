"""Runs that die of memory: JAX's own error, from an array larger than any machine's address space."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import pytest
from magic_shell import Shell, fresh_shell

from jaxstage_ext import inspect
from jaxstage_ext.panel.showing import display, mimebundle
from jaxstage_ext.program import tabs
from jaxstage_ext.program.device import out_of_memory
from jaxstage_ext.worker import pool

SIDE = 1 << 24
SIZE = 4 * SIDE * SIDE
HUGE = f"def huge(x):\n    return jnp.broadcast_to(x, ({SIDE}, {SIDE})) * jnp.arange({SIDE}, dtype=jnp.float32)\n"
RUN = "\ny = jax.block_until_ready(jax.jit(huge)(jnp.float32(1)))"


def huge(x: jax.Array) -> jax.Array:
    return jnp.broadcast_to(x, (SIDE, SIDE)) * jnp.arange(SIDE, dtype=jnp.float32)


@pytest.fixture(scope="module")
def shell() -> Iterator[Shell]:
    with fresh_shell() as made:
        yield made
    pool.close_all()


def test_a_run_that_dies_is_kept_with_what_was_alive_and_opens_the_memory() -> None:
    made = inspect(huge, jnp.float32(1))
    other = jnp.ones((1000, 1000))
    with pytest.raises(jax.errors.JaxRuntimeError, match="RESOURCE_EXHAUSTED") as caught:
        made.execute()
    assert "This inspection's .memory" in caught.value.__notes__[0]
    assert made.error is not None and made.error.stage == "run"
    alive = made.error.message.splitlines()[1]
    assert alive.startswith("Live JAX arrays in this kernel at that time: ")
    assert "P" not in alive, "the array that could not be made is not alive"
    assert "memory" in tabs.tabs(made.program) and tabs.out_of_memory(made.program)
    assert made.compiled is not None and made.row().error is None
    assert "run failed" in mimebundle.static_bundle([made.program])["text/plain"]
    assert made.memory.fit.fits is False and made.memory.fit.needed >= SIZE
    assert made.memory.peak_set["size"][0] == SIZE
    del other


def test_a_later_run_that_works_takes_it_back() -> None:
    made = inspect(lambda x: x + 1, jnp.ones(3))
    made.program.ran_out = out_of_memory.failed_run(
        jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: no room"), made.name
    )
    assert made.error is not None
    assert made.execute().tolist() == [2, 2, 2]
    assert made.error is None


@pytest.mark.parametrize(
    "error", [ValueError("RESOURCE_EXHAUSTED"), jax.errors.JaxRuntimeError("INTERNAL: x"), KeyboardInterrupt()]
)
def test_other_errors_are_none(error: BaseException) -> None:
    assert out_of_memory.failed_run(error, "f") is None and not hasattr(error, "__notes__")


def test_run_of_the_magic(shell: Shell) -> None:
    seen = shell.run(f"%%compile --run -o ins\n{HUGE}huge(jnp.float32(1))")
    assert "RESOURCE_EXHAUSTED: Out of memory allocating" in str(seen.error)
    assert "jaxstage_ext/" not in seen.text and "This inspection's .memory" in seen.text
    assert shell["ins"].error.stage == "run"


def test_run_beside_another_target(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(display, "refresh_shown", lambda inspections: told.extend(str(i.target) for i in inspections))
    shell.run(f"%%compile --run -o ins -t cpu:2 -t local\n{HUGE}huge(jnp.float32(3))")
    assert told == ["local"]
    assert shell["ins"].error is None and shell["ins"].targets["local"].error.stage == "run"


def test_a_cell_that_dies_before_its_call_is_staged_shows_what_the_call_takes(shell: Shell) -> None:
    seen = shell.run(f"%%compile -o ins huge(jnp.float32(1))\n{HUGE}{RUN}")
    assert "RESOURCE_EXHAUSTED" in str(seen.error) and "y = jax.block_until_ready" in seen.text
    assert seen.panels == [f"huge(x: f32[]) -> f32[{SIDE},{SIDE}]"]
    error = shell["ins"].error
    assert "which may not be its cause" in error.message and error.span.line == 5
    assert shell["ins"].memory.fit.fits is False


@pytest.mark.parametrize(
    ("line", "body"),
    [
        ("", HUGE + RUN + "\nhuge(jnp.float32(2))"),
        ("missing(jnp.float32(1))", HUGE + RUN),
        ("huge(jnp.float32(1))", HUGE + "\nraise ValueError('RESOURCE_EXHAUSTED')"),
    ],
)
def test_a_cell_that_dies_otherwise_is_left_alone(shell: Shell, line: str, body: str) -> None:
    seen = shell.run(f"%%compile {line}\n{body}")
    assert "RESOURCE_EXHAUSTED" in str(seen.error) and not seen.panels
