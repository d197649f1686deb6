"""This machine's ceilings: kept by machine, shared by devices, never a vendor's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest
from traitlets import TraitError

import jaxstage_ext
from jaxstage_ext.analysis.cost.ceilings import Outcome
from jaxstage_ext.core.targets import machine_ceilings
from jaxstage_ext.core.targets.machine_ceilings import MachineCeilings
from jaxstage_ext.notebook import settings
from jaxstage_ext.notebook.settings import JAXStage
from jaxstage_ext.program.questions.answers import answers
from jaxstage_ext.store import cache

MEASURED = MachineCeilings(
    {"f32": 2e11, "f64": 1e11, "bf16": 4e11, "s8": 8e11},
    5e10,
    32 << 20,
    2e11,
    ((1e9, 4e9), (2e8, 6e9), (3e8, 1e9)),
    "a CPU",
    2,
    "2026-11-22",
)


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    machine_ceilings.forget()
    yield
    machine_ceilings.forget()
    JAXStage.instance().cpu_ceilings = ""


def test_they_are_kept_for_later_kernels_and_what_is_damaged_is_unknown(tmp_path: Path) -> None:
    cache.use_folder(tmp_path)
    try:
        machine_ceilings.keep(MEASURED)
        machine_ceilings._Ceilings.measured = None
        cache.clear()
        assert machine_ceilings.of_this_machine() == MEASURED
        machine_ceilings._Ceilings.measured = None
        cache.store(machine_ceilings._key(), {"products": {"f32": "fast"}, "functions": []})
        assert machine_ceilings.of_this_machine() is None
    finally:
        cache.use_folder(None)


def test_another_environment_has_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    key = machine_ceilings._key()
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
    assert machine_ceilings._key() != key


def test_devices_that_run_together_share_the_machine() -> None:
    whole, eighth = MEASURED.device(), MEASURED.device(8)
    assert whole.title == "this machine's CPU (measured 2026-11-22)"
    assert eighth.title == "1/8 of this machine's CPU (measured 2026-11-22)"
    assert eighth.flops["f32"] == whole.flops["f32"] / 8 == 2.5e10
    assert (eighth.bandwidth, eighth.cache, eighth.cache_bandwidth) == (5e10 / 8, 4 << 20, 2e11 / 8)
    assert eighth.functions[0] == (1e9 / 8, 4e9 / 8)
    assert whole.vector == {"f32": 2e11, "f64": 1e11, "bf16": 2e11, "f16": 2e11, "s32": 2e11}


def test_their_text_says_where_they_are_from_and_whether_the_machine_was_busy() -> None:
    text = str(replace(MEASURED, load=3.0))
    assert text.splitlines()[1].split() == ["f32", "products", "200", "GFLOP/s"]
    assert text.splitlines()[4].split() == ["s8", "products", "800", "Gop/s"]
    assert "a CPU, 2 cores, through XLA; measured on this machine, 2026-11-22" in text
    assert "load 3.0 on 2 cores" in text
    assert "load" not in str(MEASURED)


def test_unknown_ceilings_say_how_to_measure_them() -> None:
    roof = jaxstage_ext.inspect(lambda x: x @ x, jnp.ones((64, 64))).cost.roofline
    assert roof.outcome is Outcome.NO_PEAKS and roof.how_to_measure.startswith(
        "jaxstage_ext.measure_ceilings() measures"
    )
    assert roof.how_to_measure in roof.verdict


def test_a_product_is_bound_by_the_measured_peak_in_every_view() -> None:
    machine_ceilings.keep(MEASURED)
    inspection = jaxstage_ext.inspect(lambda x: x @ x, jnp.ones((512, 512)))
    roof = inspection.cost.roofline
    seconds = 2 * 512**3 / 2e11
    assert roof.total == pytest.approx(seconds)
    assert roof.unit == ["f32 matrix"]
    assert roof.attainable.tolist() == pytest.approx([2e11])
    assert roof.verdict == (
        "Bound by compute: compute-bound instructions take 100% of the 1.34 ms lower bound on this machine's CPU "
        "(measured 2026-11-22)."
    )
    assert inspection.compare()["time"] == pytest.approx([seconds])
    assert any(roof.verdict in said for said in answers(inspection.program)["answer"])
    assert roof.verdict in str(inspection.cost)
    assert any("not a vendor's" in note for note in roof.notes)


def test_what_fits_in_the_caches_is_bound_by_their_bandwidth() -> None:
    machine_ceilings.keep(MEASURED)
    for elements, bandwidth in ((1 << 20, 2e11), (1 << 24, 5e10)):
        roof = jaxstage_ext.inspect(lambda x: x + 1, jax.ShapeDtypeStruct((elements,), jnp.float32)).cost.roofline
        assert roof.total == pytest.approx(8 * elements / bandwidth)


@pytest.mark.parametrize("target", ["local", "cpu:8"])
def test_a_program_on_all_devices_has_an_eighth_of_the_machine_on_each(target: str) -> None:
    machine_ceilings.keep(MEASURED)
    count = 8 if target != "local" else jax.device_count()
    inspection = jaxstage_ext.inspect(
        lambda x: x @ x.T, jax.ShapeDtypeStruct((count * 64, 64), jnp.float32), target=target, mesh={"d": count},
        in_specs=jax.P("d"),
    )  # fmt: skip
    assert inspection.cost.roofline.title.startswith(f"1/{count} of this machine's CPU")


def test_by_hand_they_count_before_what_was_measured() -> None:
    machine_ceilings.keep(MEASURED)
    JAXStage.instance().cpu_ceilings = "f32=100G, memory=20G"
    roof = jaxstage_ext.inspect(lambda x: x @ x, jnp.ones((512, 512))).cost.roofline
    assert (roof.title, roof.total) == ("this machine's CPU (set by hand)", pytest.approx(2 * 512**3 / 1e11))
    JAXStage.instance().cpu_ceilings = ""
    assert machine_ceilings.of_this_machine() == MEASURED


@pytest.mark.parametrize("text", ["f32", "f32=", "f32=fast", "f32=-1", "f32=inf", "f32=1G,f32=2G", "f8=1G", "f32=1e30"])
def test_rates_by_hand_that_are_none(text: str) -> None:
    with pytest.raises(ValueError, match="f32=200G"):
        settings.parse(text)
    with pytest.raises(TraitError, match="f32=200G"):
        JAXStage.instance().cpu_ceilings = text


def test_rates_by_hand() -> None:
    assert settings.parse(" f32 = 1.5T , memory=50e9, ") == {"f32": 1.5e12, "memory": 5e10}
    assert settings.parse("") == {}


def test_functions_are_between_the_slowest_and_the_fastest_that_were_measured() -> None:
    machine_ceilings.keep(MEASURED)
    roof = jaxstage_ext.inspect(jnp.tanh, jnp.ones(1 << 20)).cost.roofline
    assert roof.total == pytest.approx((1 << 20) / 4e9)
