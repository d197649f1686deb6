"""A program under other sets of XLA flags: what is tried, how it is ranked, and whose the figures are."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import process_state
import pytest

import jaxstage_ext
from jaxstage_ext.core.options import flag_values, trial_flag_help, xla_flags
from jaxstage_ext.core.options.flag_values import OptionError
from jaxstage_ext.program.comparing import what_if as what_ifs
from jaxstage_ext.program.comparing.what_if_row import TrialEnd, WhatIfRow
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.prediction import Estimator, Means, Prediction
from jaxstage_ext.report.unavailable import Unavailable

pytestmark = pytest.mark.usefixtures("kept_answers")
COMBINED = "xla_gpu_all_reduce_combine_threshold_bytes=1073741824"
SIZE = 2048
"""Smaller all-reduces than of such matrices are kernels of XLA's own, which it schedules without an estimate."""


def _loss(weights: Any, x: Any) -> Any:
    for weight in weights:
        x = jnp.tanh(x @ weight)
    return (x**2).mean()


def _gradients(weights: Any, x: Any) -> Any:
    return jax.grad(_loss)(weights, x)


def _on_gpus(**how: Any) -> Any:
    weights = [jax.ShapeDtypeStruct((SIZE, SIZE), jnp.float32)] * 3
    x = jax.ShapeDtypeStruct((8 * SIZE, SIZE), jnp.float32)
    specs = (jax.P(), jax.P("data"))
    return jaxstage_ext.inspect(_gradients, weights, x, target="h100:8", mesh={"data": 8}, in_specs=specs, **how)


@pytest.mark.needs("cuda")
def test_the_figures_of_a_row_are_those_of_a_compile_with_its_flags() -> None:
    tried = _on_gpus().what_if([COMBINED, {"xla_gpu_enable_while_loop_double_buffering": True}])
    base, one = tried.base, next(row for row in tried.rows if "combine" in row.label)
    assert tried.rows[0] is base and tried.best.seconds == min(row.seconds for row in tried.rows)
    assert base.counts and base.counts.collectives == {"all-reduce": 3}
    assert one.counts and one.counts.collectives == {"all-reduce": 1}
    applied = _on_gpus(compiler_options=one.options)
    prediction = applied.predicted.recording.prediction
    assert (prediction.seconds, prediction.exposed) == (one.seconds, one.exposed)
    assert applied.cost.roofline.total == one.bound
    assert applied.compare()["memory"][0] == one.memory
    assert "all-reduce 3 → 1" in tried.table["changed"][list(tried.rows).index(one)]


@pytest.fixture
def inspection() -> Any:
    return jaxstage_ext.inspect(lambda x: jnp.tanh(x @ x), jnp.ones((64, 64)))


def test_without_an_estimate_there_are_bounds_and_the_reason(inspection: Any) -> None:
    before = process_state.taken()
    tried = inspection.what_if(["xla_cpu_prefer_vector_width=512 xla_cpu_enable_fast_math=true"])
    assert not [
        each for each in process_state.differences(before, process_state.taken()) if not each.startswith(_OF_WORKERS)
    ]
    assert [row.end for row in tried.rows] == [TrialEnd.COMPILED] * 2
    assert tried.rows[1].options == {"xla_cpu_prefer_vector_width": 512, "xla_cpu_enable_fast_math": True}
    assert tried.rows[1].memory == 2 * 64 * 64 * 4
    assert tried.best is tried.base and tried.base.seconds is None
    assert tried.table.reasons[0, "estimate"] == tried.base.why_no_estimate != ""
    assert tried.base.why_no_estimate in tried.table.notes[0]


@pytest.mark.parametrize("flags", ["xla_gpu_no_such_flag=true", "xla_cpu_enable_fast_math=maybe", "fast", {"a": 1}])
def test_a_flag_that_xla_does_not_have_is_refused_in_one_line(inspection: Any, flags: Any) -> None:
    with pytest.raises(OptionError) as refused:
        inspection.what_if([flags])
    assert len(str(refused.value).splitlines()) == 1


def test_a_call_that_was_not_lowered_is_refused() -> None:
    with pytest.raises(Unavailable, match="not lowered"):
        jaxstage_ext.inspect(jnp.tanh, jnp.ones(3), stage="trace").what_if()


def test_what_there_is_no_time_for_is_not_tried(inspection: Any) -> None:
    tried = inspection.what_if(["xla_cpu_enable_fast_math=true"], budget=0)
    assert [row.end for row in tried.rows] == [TrialEnd.COMPILED, TrialEnd.NO_TIME]
    assert "larger budget=" in tried.table.notes[-1]


def test_an_interrupt_keeps_what_was_compiled(inspection: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[Program] = []
    advance = Program.advance

    def interrupted(program: Program) -> None:
        advance(program)
        compiled.append(program)
        if len(compiled) == 2:
            program.staged.stages[-1].error = KeyboardInterrupt()

    monkeypatch.setattr(Program, "advance", interrupted)
    tried = inspection.what_if(["xla_cpu_enable_fast_math=true", "xla_cpu_prefer_vector_width=128"])
    assert [row.end for row in tried.rows] == [TrialEnd.COMPILED, TrialEnd.INTERRUPTED, TrialEnd.INTERRUPTED]
    assert len(compiled) == 2


def test_progress_says_what_is_compiled_and_ends_it(inspection: Any) -> None:
    told: list[str | None] = []

    def hear(seconds: float, step: str | None) -> None:
        told.append(step)
        if len(told) == 2:
            raise TimeoutError

    with pytest.raises(TimeoutError):
        inspection.what_if(["xla_cpu_enable_fast_math=true", "xla_cpu_prefer_vector_width=128"], progress=hear)
    assert told == ["1 of 3: as it is", "2 of 3: cpu_enable_fast_math=True"]


_OF_WORKERS = ("threads", "open files")


class _Row(WhatIfRow):
    """A row with an estimate that was made up."""

    def __init__(self, label: str, seconds: float | None, **options: Any) -> None:
        super().__init__(label, options, TrialEnd.COMPILED, program=object())  # type: ignore[arg-type]
        made = Prediction(Estimator.XLA, Means.TABLES, "h100:8", seconds, 1.0) if seconds else None
        vars(self).update(_estimate=(made, ""), bound=1.0, memory=1)


def test_rows_are_ordered_by_estimates_that_can_be_compared() -> None:
    rows = [
        _Row("unknown", None),
        _Row("estimated otherwise", 1e-3, xla_gpu_enable_triton_gemm=False),
        _Row("slow", 3e-3, xla_gpu_memory_limit_slop_factor=70),
        WhatIfRow("failed", {}, TrialEnd.FAILED, why="no"),
        _Row("fast", 2e-3),
    ]
    ordered = sorted(rows, key=lambda row: row.rank)
    assert [row.label for row in ordered] == ["fast", "slow", "unknown", "estimated otherwise", "failed"]
    assert what_ifs.WhatIf(rows[2], [rows[2], *ordered]).best.label == "fast"


def test_every_flag_that_is_tried_is_one_of_this_jaxlib_or_has_a_twin_that_is() -> None:
    known = xla_flags.installed().by_name
    for platform, listed in trial_flag_help.BY_PLATFORM.items():
        there = {flags.effect for flags in listed if flags.options.keys() <= known.keys()}
        for flags in listed:
            assert flags.source and flags.effect
            if platform != "tpu":
                assert flags.effect in there, flags
                assert all(name.startswith(f"xla_{platform}_") for name in flags.options)
            if flags.options.keys() <= known.keys():
                changed = flag_values.check(flags.options)
                assert any(str(value) != known[name].default for name, value in changed.items())
                assert trial_flag_help.effect_of(changed) == flags.effect
