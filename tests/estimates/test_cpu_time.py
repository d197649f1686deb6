"""Expected times of CPU programs: they are what the table of measured programs gives, and say how sure they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxstage_ext
from jaxstage_ext.analysis.cost import cpu_time, cpu_time_fit
from jaxstage_ext.core.targets import machine_ceilings
from jaxstage_ext.core.targets.machine_ceilings import MachineCeilings
from jaxstage_ext.report.unavailable import Unavailable
from tests.estimates import comparison, fit

TABLE = Path(__file__).parents[1] / "golden" / "estimates" / "cpu.json"
CEILINGS = MachineCeilings({"f32": 2e11}, 5e10, 1 << 25, 2e11, ((1e9, 4e9),) * 3, "a CPU", 2, "2026-11-27")


@pytest.fixture
def measured() -> Iterator[None]:
    machine_ceilings.keep(CEILINGS)
    yield
    machine_ceilings.forget()


def test_the_factors_and_how_sure_they_are_follow_from_the_table() -> None:
    programs = comparison.read(TABLE)
    found = fit.fit(programs)
    assert len(programs) == cpu_time_fit.PROGRAMS == 40
    assert list(cpu_time_fit.FACTORS.values()) == pytest.approx(found.factors, rel=0.01, abs=1e-9)
    assert pytest.approx(found.ratios, rel=0.01) == cpu_time_fit.RATIOS
    assert pytest.approx((found.median, found.held), abs=0.01) == (cpu_time_fit.MEDIAN_ERROR, cpu_time_fit.HELD)
    expected = [cpu_time.predicted(one.work) for one in programs]
    inside = [one.low <= each.seconds <= one.high for one, each in zip(expected, programs, strict=True)]
    assert sum(inside) >= 0.9 * len(programs)  # by their own percentiles


def test_a_fit_finds_the_factors_that_made_the_times() -> None:
    rng = np.random.default_rng(0)
    made = [cpu_time.CpuWork(*(rng.random(3) * 10.0 ** rng.integers(-5, -2, 3)), 0.0) for _ in range(30)]
    times = [2 * one.products + 3 * one.arithmetic + 4 * one.moved + 1e-5 for one in made]
    pairs = zip(made, times, strict=True)
    found = fit.fit([comparison.Compared(str(at), work, seconds) for at, (work, seconds) in enumerate(pairs)])
    assert found.factors == pytest.approx((2, 3, 4, 0, 1e-5), rel=1e-3, abs=1e-9)
    assert found.median < 1e-3


@pytest.mark.usefixtures("measured")
def test_an_expected_time_is_the_bound_by_its_factor_and_a_call() -> None:
    cost = jaxstage_ext.inspect(jnp.matmul, jnp.ones((512, 512)), jnp.ones((512, 512))).cost
    made, bound = cost.expected, 2 * 512**3 / 2e11
    factors = cpu_time_fit.FACTORS
    assert made.seconds == pytest.approx(factors["products"] * bound + factors["instructions"] + factors["calls"])
    assert made.low < made.seconds < made.high
    assert cost.roofline.total == pytest.approx(bound)
    assert str(made) in str(cost)


@pytest.mark.usefixtures("measured")
def test_what_the_measured_programs_do_not_speak_for_has_no_expected_time() -> None:
    sharded = jaxstage_ext.inspect(
        jnp.tanh, jax.ShapeDtypeStruct((64,), jnp.float32), target="cpu:2", mesh={"d": 2}, in_specs=jax.P("d")
    )
    with pytest.raises(Unavailable, match="several"):
        _ = sharded.cost.expected
    machine_ceilings.keep(replace(CEILINGS, load=9.0))
    with pytest.raises(Unavailable, match="busy"):
        _ = jaxstage_ext.inspect(jnp.sin, jnp.ones(3)).cost.expected
    machine_ceilings.forget()
    with pytest.raises(Unavailable, match="unknown"):
        _ = jaxstage_ext.inspect(jnp.sin, jnp.ones(3)).cost.expected
