"""The roofline model on a device made by hand: 100 FLOP/s in f32, 1,000 in bf16, 10 bytes a second."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from made_costs import Device, Instruction, cost

from jaxstage_ext.analysis.collectives.exposed_time import Exchange
from jaxstage_ext.analysis.cost import cost_wording, roofline
from jaxstage_ext.analysis.cost.ceilings import Ceiling, Doubt, DoubtReason, Outcome
from jaxstage_ext.analysis.cost.roofline import Roofline

NAN = math.nan


def held(
    *instructions: Instruction,
    device: Device | None = None,
    platform: str = "cpu",
    exchanges: tuple[Exchange, ...] = (),
    near: tuple[float, ...] = (),
) -> Roofline:
    work = replace(cost(*instructions), near=np.array(near)) if near else cost(*instructions)
    return roofline.read(work, device or Device(), platform, exchanges)


def test_the_longer_of_computing_and_moving_is_the_bound() -> None:
    found = held(
        Instruction("add", "add", flops=10, bytes=40),
        Instruction("mul", "multiply", flops=1000, bytes=40),
        Instruction("half", "multiply", flops=1000, bytes=40, dtype="bf16"),
    )
    assert found.names == ["mul", "add", "half"]
    assert found.seconds.tolist() == [10, 4, 4]
    assert found.bound == ["compute", "memory", "memory"]
    assert found.unit == ["f32 vector", "f32 vector", "bf16 vector"]
    assert found.intensity.tolist() == [25, 0.25, 25]
    assert found.attainable.tolist() == [100, 2.5, 250]
    assert found.ridges == {"f32 matrix": 10, "bf16 matrix": 100, "f32 vector": 10, "bf16 vector": 100}
    assert found.shares == pytest.approx({"compute": 10 / 18, "memory": 8 / 18, "interconnect": 0, "unknown": 0})
    assert (found.outcome, found.bounded_by, found.total) == (Outcome.BOUND, Ceiling.COMPUTE, 18)
    assert all(figure in found.verdict for figure in ("56%", "18 s", "a device"))


def test_every_point_is_on_or_under_its_roof() -> None:
    numbers = np.random.default_rng(0).uniform(1, 1e4, (50, 2))
    found = held(*[Instruction(f"i{i}", "add", flops=f, bytes=b) for i, (f, b) in enumerate(numbers)])
    roof = np.minimum(100, found.intensity * 10)
    assert found.attainable == pytest.approx(roof)


def test_runs_count() -> None:
    found = held(Instruction("add", "add", flops=10, bytes=40, runs=5))
    assert (found.flops[0], found.moved[0], found.seconds[0]) == (50, 200, 20)


def test_what_only_moves_has_no_place_on_the_chart_but_takes_its_time() -> None:
    found = held(Instruction("copy", "copy", flops=0, bytes=40), Instruction("add", "add", flops=10, bytes=10))
    assert found.seconds.tolist() == [4, 1]
    assert found.bound == ["memory", "memory"]
    assert np.isnan(found.attainable[0])
    assert found.left_out == cost_wording.left_out(1, 0)


def test_unknown_flops_are_not_taken_for_none() -> None:
    found = held(Instruction("call", "custom-call", flops=NAN, bytes=40), Instruction("add", "add", flops=1, bytes=10))
    assert found.bound == ["unknown", "memory"]
    assert np.isnan(found.attainable[0])
    assert found.bounded_by == "unknown"
    assert found.outcome is Outcome.UNKNOWN_WORK
    assert found.reasons == (DoubtReason(Doubt.FLOPS, ("call is a custom call",), "In [5]:2", 1),)
    assert (found.total, found.decision.known[Ceiling.MEMORY]) == (5, 1)
    assert found.left_out == cost_wording.left_out(0, 1)
    assert "call" in found.notes[0]


def test_a_device_that_is_not_in_the_catalogue_bounds_nothing() -> None:
    found = held(Instruction("add", "add", flops=10, bytes=40), device=Device("a toaster", {}, None, {}))
    assert found.outcome is Outcome.NO_PEAKS and "a toaster" in found.verdict
    assert found.bounded_by == "unknown"
    assert found.bound == ["unknown"]
    assert found.ridges == {}
    assert np.isnan(found.seconds).all()


def test_without_a_peak_for_its_dtype_the_bound_is_unknown_and_that_is_said() -> None:
    found = held(Instruction("add", "add", flops=10, bytes=40, dtype="s32"))
    assert found.bound == ["unknown"]
    assert found.seconds.tolist() == [4]
    assert found.reasons == (DoubtReason(Doubt.PEAK, ("s32 vector",), "In [5]:2", 1),)
    assert (found.outcome, found.total, found.decision.known[Ceiling.MEMORY]) == (Outcome.UNKNOWN_WORK, 4, 1)
    assert found.decision.condition == (Ceiling.MEMORY, 4.0), "the 4 s that it takes to move its bytes"
    assert "the peak of a device for them is not published" in found.verdict and "more than 4 s" in found.verdict


def test_what_is_unknown_but_small_overturns_nothing() -> None:
    small = Instruction("small", "add", flops=10, bytes=3, dtype="s32")
    device = Device(vector={"f32": 100.0})
    held_on_gpu = held(small, Instruction("copy", "copy", flops=0, bytes=400), device=device, platform="cuda")
    assert held_on_gpu.bound == ["memory", "unknown"], "s32 takes 0.1 to 0.4 s, 3 bytes take 0.3 s"
    assert held_on_gpu.bounded_by == "memory"


@pytest.mark.parametrize(
    ("platform", "dtype", "unit"),
    [
        ("tpu", "f32", "bf16 matrix"),
        ("tpu", "f16", "bf16 matrix"),
        ("tpu", "s32", "bf16 matrix x10"),
        ("tpu", "s8", "s8 matrix"),
        ("cuda", "f32", "f32 vector"),
        ("cpu", "f32", "f32 matrix"),
        ("cpu", "u8", "s8 matrix"),
        ("cpu", "c128", "f64 matrix"),
        ("cpu", "s32", "s32 vector"),
    ],
)
def test_a_dot_is_held_against_the_unit_that_computes_it(platform: str, dtype: str, unit: str) -> None:
    argument = Instruction("w", "parameter", 0, 0, dtype=dtype)
    dot = Instruction("dot", "dot", 10, 10, dtype="f32", operands=(0,))
    found = held(argument, dot, platform=platform)
    assert found.unit[found.names.index("dot")] == unit


def test_nothing_is_bound_by_nothing() -> None:
    assert held().outcome is Outcome.NO_WORK
    assert held(Instruction("copy", "copy", 0, 0)).outcome is Outcome.NO_WORK
    assert len(held().table) == 0


def test_the_table_has_the_longest_first_and_the_verdict() -> None:
    found = held(Instruction("add", "add", flops=10, bytes=40), Instruction("mul", "multiply", 1000, 40))
    text = str(found)
    assert text.index("mul") < text.index("add ")
    assert found.bounded_by is Ceiling.COMPUTE and found.verdict in text


MUL = Instruction("mul", "multiply", flops=1000, bytes=40)
SUM = Instruction("sum", "all-reduce", flops=10, bytes=40)


def test_a_collective_that_takes_longest_bounds_the_program() -> None:
    found = held(MUL, SUM, exchanges=(Exchange((1,), 30.0),))
    assert found.seconds.tolist() == [30, 10]
    assert found.bound == ["interconnect", "compute"]
    assert found.bounded_by == "interconnect"
    assert (found.total, found.shares[Ceiling.INTERCONNECT]) == (40, 0.75)


def test_what_other_work_hides_of_a_collective_takes_no_time() -> None:
    found = held(MUL, SUM, exchanges=(Exchange((1,), 30.0, "", (0,)),))
    assert found.hidden.tolist() == [10, 0]
    assert found.total == 30
    assert found.shares["interconnect"] == pytest.approx(20 / 30)
    short = held(MUL, SUM, exchanges=(Exchange((1,), 5.0, "", (0,)),))
    assert short.total == 10
    assert short.bounded_by == "compute"


def test_links_of_unknown_speed_leave_the_bound_unknown_and_say_why() -> None:
    found = held(MUL, SUM, exchanges=(Exchange((1,), NAN, "the speed between hosts is not known"),))
    assert found.bounded_by == "unknown"
    assert found.bound[found.names.index("sum")] == "unknown"
    assert found.outcome is Outcome.NO_LINK_SPEED
    assert [(reason.doubt, reason.what) for reason in found.reasons] == [
        (Doubt.LINK, ("the speed between hosts is not known",))
    ]
    assert found.total == 14 and found.decision.known[Ceiling.COMPUTE] == pytest.approx(10 / 14)
    assert "the speed between hosts is not known" in found.verdict


def test_bytes_on_the_chip_take_no_bandwidth_of_the_memory() -> None:
    far, mixed, inside = (Instruction(name, "add", flops=10, bytes=40) for name in ("far", "mixed", "inside"))
    found = held(far, mixed, inside, near=(0, 30, 40), platform="tpu")
    seconds = dict(zip(found.names, found.seconds.tolist(), strict=True))
    assert seconds == {"far": 4, "mixed": 1, "inside": 0.1}
    assert dict(zip(found.names, found.bound, strict=True))["inside"] == "unknown", "reading them may take 0.4 s"
    quick = held(inside, near=(40,), platform="tpu", device=Device(bandwidth=100.0))
    assert quick.bound == ["compute"], "reading them takes 0.04 s at most, computing 0.1 s at least"
    assert dict(zip(found.names, found.intensity.tolist(), strict=True)) == {"far": 0.25, "mixed": 1, "inside": 0.25}
    assert found.notes[-1] == cost_wording.on_chip(70 / 120)
    assert held(far, near=(40,), platform="cuda").seconds.tolist() == [4], "memory space 1 of a GPU is its own memory"


def test_a_copy_on_the_chip_is_bound_by_what_nobody_knows() -> None:
    assert held(Instruction("copy", "copy", flops=0, bytes=40), near=(40,), platform="tpu").bound == ["unknown"]
