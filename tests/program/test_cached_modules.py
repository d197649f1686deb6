"""Which HLO a recording's modules have where JAX's persistent cache gave their executables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import jax
import jax.numpy as jnp
import pytest
from helpers.recordings import Event, recording

from jaxstage_ext.ir.hlo import whole_module
from jaxstage_ext.program.source import recorded_lines
from jaxstage_ext.program.source.cached_modules import notes, with_cached_modules
from jaxstage_ext.report.recording import RecordedModule, Recording


def proto(f: Callable[[jax.Array], jax.Array]) -> bytes:
    executable = jax.jit(f).lower(jnp.ones((8, 8))).compile().runtime_executable()
    return bytes(executable.hlo_modules()[0].as_serialized_hlo_module_proto())


def names(of: bytes) -> set[str]:
    return {name.decode() for name in whole_module.read(of).names}


def step(x: jax.Array) -> jax.Array:
    return jnp.tanh(x @ x) @ x


STEP = proto(step)
MOVED = proto(lambda x: jnp.tanh(x @ x) @ x)
WIDER = proto(lambda x: jnp.sort(jnp.tanh(x @ x) @ x))
OTHER = proto(jnp.sort)
SHARED = min((names(STEP) & names(WIDER)) - names(OTHER))
"""An instruction of three of these programs."""


@pytest.fixture
def hit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorded_lines, "has_hit", lambda name: name == "jit_step")


def found(ran: str, held: dict[str, bytes]) -> Recording:
    """A recording in which the `jit_step` numbered `ran` ran, and these of `jit_step` are held, by their numbers."""
    made = recording([Event("a", SHARED, 0, 4, op=("jit_step", SHARED))])
    modules = [RecordedModule("jit_step", ran, reader(held[ran]) if ran in held else None)]
    modules += [RecordedModule("jit_step", number, reader(data)) for number, data in held.items() if number != ran]
    return with_cached_modules(replace(made, modules=tuple(modules)))


def reader(data: bytes) -> Callable[[], bytes]:
    return lambda: data


def hlo_of(made: Recording) -> bytes | None:
    """The HLO of what ran."""
    read = made.modules[0].proto
    return read() if read is not None else None


@pytest.mark.usefixtures("hit")
def test_a_run_under_a_number_of_another_process_is_of_the_one_program_that_fits() -> None:
    made = found("6", {"17": STEP, "9": OTHER})
    assert (hlo_of(made), notes(made)) == (STEP, [])


@pytest.mark.usefixtures("hit")
def test_a_number_that_leads_to_another_program_is_not_followed() -> None:
    assert hlo_of(found("9", {"17": STEP, "9": OTHER})) == STEP


@pytest.mark.usefixtures("hit")
@pytest.mark.parametrize("held", [{"17": STEP, "18": WIDER}, {"9": OTHER}, {}])
def test_where_several_programs_fit_or_none_no_hlo_is_shown_and_the_reader_is_told(held: dict[str, bytes]) -> None:
    made = found("6", held)
    assert hlo_of(made) is None
    assert "The HLO and lines of jit_step are unknown: the profile does not hold the program that ran" in notes(made)[0]


@pytest.mark.usefixtures("hit")
def test_versions_that_differ_in_their_lines_alone_are_one_program() -> None:
    assert names(STEP) == names(MOVED) and STEP != MOVED
    assert hlo_of(found("6", {"17": STEP, "18": MOVED})) == STEP
    assert hlo_of(found("18", {"17": STEP, "18": MOVED})) == MOVED


def test_without_a_hit_only_the_number_counts() -> None:
    unknown, known = found("6", {"17": STEP}), found("17", {"17": STEP})
    assert (hlo_of(unknown), len(notes(unknown))) == (None, 1)
    assert (hlo_of(known), notes(known)) == (STEP, [])
