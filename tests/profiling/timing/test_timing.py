"""A Timing's figures, by hand; its mode stands beside every one of them."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, replace

import pytest

from jaxstage_ext.profiling.timing import timing_wording
from jaxstage_ext.profiling.timing.run_times import KernelTime
from jaxstage_ext.profiling.timing.timing import DifferentModes, Timing
from jaxstage_ext.profiling.timing.timing_modes import Noise, TimeSource, TimingMode

SAMPLES = tuple(milliseconds / 1e3 for milliseconds in (5.0, 5.1, 5.2, 5.3, 5.4, 5.5, 5.6))
STEP = Timing("step", TimingMode.WALL, TimeSource.HOST_CLOCK, "CPU", SAMPLES, 0.25, (0.02, 0.006))


def test_the_figures_of_seven_runs() -> None:
    assert (STEP.runs, STEP.minimum, STEP.median) == (7, 0.005, 0.0053)
    assert STEP.quartiles == pytest.approx((0.00515, 0.00545))
    assert STEP.interquartile_range == pytest.approx(0.0003)
    assert STEP.interval == (0.005, 0.0056)
    assert STEP.uncertainty == pytest.approx(0.0003)


def test_its_text_names_the_mode_and_keeps_compiling_apart() -> None:
    figures, quantity, warning = str(STEP).splitlines()
    assert figures.startswith("step: wall ")
    shown = ("5.3 ms", "± 300 µs", "95%", "5.15 ms", "5.45 ms", "5 ms", "7 runs")
    assert [figures.index(figure) for figure in shown[:6]] and all(figure in figures for figure in shown)
    assert timing_wording.quantity(STEP) in quantity and timing_wording.apart(STEP) in quantity
    assert all(figure in timing_wording.apart(STEP) for figure in ("250 ms", "20 ms", "1 warm-up run"))
    assert warning.strip() == timing_wording.warning(STEP) and "6%" in warning
    assert "250 ms" not in str(replace(STEP, compile_seconds=None))


@pytest.mark.parametrize(
    ("samples", "noise"),
    [
        ([1.0] * 5, Noise.TOO_FEW_RUNS),
        ([1.0] * 30, Noise.NONE),
        ([1.0, 2.0] * 15, Noise.WIDE_INTERVAL),
        ([1.0 + i / 1e3 for i in range(15)] + [1.5 + i / 1e3 for i in range(15)], Noise.DRIFT),
        ([0.0] * 30, Noise.NONE),
    ],
)
def test_what_cannot_be_relied_upon_is_said(samples: list[float], noise: Noise) -> None:
    timing = replace(STEP, samples=tuple(samples))
    assert timing.noise is noise
    assert len(str(timing).splitlines()) == (2 if noise is Noise.NONE else 3)


def test_two_modes_are_never_compared() -> None:
    with pytest.raises(DifferentModes, match=r"span\b.*\bwall\b"):
        replace(STEP, mode=TimingMode.SPAN).compared_with(STEP)
    with pytest.raises(TypeError):
        assert STEP < STEP  # type: ignore[operator]


def test_a_comparison_is_clear_where_the_intervals_are_apart() -> None:
    twice = replace(STEP, samples=tuple(2 * seconds for seconds in SAMPLES))
    compared = STEP.compared_with(twice)
    assert (compared.ratio, compared.is_clear) == (2.0, True)
    assert (compared.low, compared.high) == pytest.approx((10.0 / 5.6, 11.2 / 5.0))
    assert str(compared) == timing_wording.comparison(TimingMode.WALL, 2.0, compared.low, compared.high)
    assert all(figure in str(compared) for figure in ("2 times", "1.79", "2.24"))
    same = STEP.compared_with(STEP)
    assert not same.is_clear and all(figure in str(same) for figure in ("0.893", "1.12"))
    few = replace(STEP, samples=SAMPLES[:3])
    assert not STEP.compared_with(few).is_clear
    assert "too few runs" in str(STEP.compared_with(few))


def test_kernels_are_pairs_and_a_table() -> None:
    timing = replace(STEP, mode=TimingMode.KERNELS, kernels=(KernelTime(("dot.3", 1.5)), KernelTime(("fusion", 0.2))))
    assert timing.kernels == (("dot.3", 1.5), ("fusion", 0.2))
    assert timing.kernel_table["time"].tolist() == [1.5, 0.2]
    assert str(timing).splitlines()[-2].split() == ["1.5", "ms", "dot.3"]
    with pytest.raises(ValueError, match="aggregate=False"):
        assert STEP.kernel_table


def test_json_pandas_and_html() -> None:
    data = json.loads(STEP.to_json())
    assert (data["mode"], data["runs"], data["samples"]) == ("wall", 7, list(SAMPLES))
    assert data["interval"] == [0.005, 0.0056]
    assert json.loads(replace(STEP, samples=SAMPLES[:2]).to_json())["interval"] == [None, None]
    pytest.importorskip("pandas")
    assert STEP.to_pandas()["wall (s)"].tolist() == list(SAMPLES)
    assert "<script>" not in replace(STEP, title="<script>alert(1)</script>")._repr_html_()


def test_it_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        STEP.samples = ()  # type: ignore[misc]
