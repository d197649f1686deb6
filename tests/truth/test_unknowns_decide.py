"""What is unknown can decide: a verdict that is drawn holds whatever the value of what is unknown.

Made programs with random work, and modules that XLA compiled, on every device of the catalogue: each unknown is
replaced by the least and by the most that it can be, and a verdict that was drawn must stay.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_costs import NUMBER, Device, Instruction, cost

from jaxstage_ext.analysis.collectives.exposed_time import Exchange
from jaxstage_ext.analysis.cost import module_cost, roofline
from jaxstage_ext.analysis.cost.ceilings import UNDECIDED, Ceiling, Doubt
from jaxstage_ext.analysis.cost.loops.executions import Executions, Loop
from jaxstage_ext.analysis.cost.module_cost import Cost, Places
from jaxstage_ext.core.targets.catalogue import CATALOGUE
from jaxstage_ext.ir.hlo import module as hlo

NAN = float("nan")
HUGE = 1e9
MODULES = sorted((Path(__file__).parents[1] / "golden").glob("jax-*/*/hlo.pb"))
DEVICES = [(device, "tpu" if device.tpu else "cuda") for device in CATALOGUE.values()]


def made(seed: int) -> tuple[Cost, tuple[Exchange, ...]]:
    """A program of random work: some FLOPs, peaks and links are unknown."""
    random = np.random.default_rng(seed)
    unknown = random.random() * 0.5
    instructions = [
        Instruction(
            f"i{i}",
            "all-reduce" if i == 0 else "custom-call" if (is_unknown := random.random() < unknown) else "add",
            NAN if i and is_unknown else float(random.choice([0, 10, 1e3, 1e5])),
            float(random.choice([0, 10, 400, 1e4])),
            dtype=str(random.choice(["f32", "bf16", "s32"])),
            runs=float(random.choice([1, 7])),
        )
        for i in range(int(random.integers(2, 6)))
    ]
    seconds = float(random.choice([NAN, 0.0, 1.0, 1e3]))
    exchanges = (Exchange((0,), seconds, "no link speed on file" if np.isnan(seconds) else ""),)
    return cost(*instructions), exchanges


def resolved(work: Cost, device: Device, exchanges: tuple[Exchange, ...]) -> Iterator[roofline.Roofline]:
    """The program with every unknown at the least and at the most that it can be."""
    links = [0.0, HUGE] if any(np.isnan(exchange.seconds) for exchange in exchanges) else [None]
    vectors = [1e-6, 1e9] if "s32" not in device.vector else [device.vector["s32"]]
    for flops, link, vector in itertools.product((0.0, HUGE), links, vectors):
        known = replace(work, flops=np.nan_to_num(work.flops, nan=flops), unknown={})
        times = tuple(e if link is None else e._replace(seconds=link, why="") for e in exchanges)
        yield roofline.read(known, replace(device, vector=device.vector | {"s32": vector}), "cpu", times)


@pytest.mark.parametrize("seed", range(150))
def test_a_verdict_on_a_made_program_holds_whatever_is_unknown(seed: int) -> None:
    work, exchanges = made(seed)
    drawn = roofline.read(work, device := Device(), "cpu", exchanges)
    found = {roof.bounded_by for roof in resolved(work, device, exchanges)}
    if drawn.bounded_by is Ceiling.UNKNOWN:
        assert drawn.reasons or not drawn.total, "an open verdict names what is unknown"
    else:
        assert found == {drawn.bounded_by}


def test_made_programs_are_decided_and_open_alike() -> None:
    drawn = [roofline.read(work, Device(), "cpu", exchanges) for work, exchanges in map(made, range(150))]
    open_ones = sum(roof.bounded_by is Ceiling.UNKNOWN for roof in drawn)
    assert 20 < open_ones < 130


@pytest.fixture(scope="module", params=MODULES, ids=lambda path: f"{path.parents[1].name}-{path.parent.name}")
def compiled(request: pytest.FixtureRequest) -> Cost:
    ops = hlo.parse(request.param.read_bytes())
    n = len(ops)
    return module_cost.read(ops, Places(np.full(n, -1, np.int64), [""] * n, [""] * n))


def test_a_verdict_on_a_compiled_module_holds_whatever_is_unknown(compiled: Cost) -> None:
    for device, platform in DEVICES:
        drawn = roofline.read(compiled, device, platform)
        for flops, trips in itertools.product((0.0, 1e18), (1, 10**9)):
            known = replace(compiled, flops=np.nan_to_num(compiled.flops, nan=flops), unknown={})
            known = replace(known, loops=with_trips(compiled.loops, trips))
            if drawn.bounded_by is not Ceiling.UNKNOWN:
                assert roofline.read(known, device, platform).bounded_by is drawn.bounded_by
        assert (drawn.outcome in UNDECIDED) == bool(drawn.reasons) or not drawn.peaks


def with_trips(loops: Executions, trips: int) -> Executions:
    """The loops of unknown length run this often."""
    lengths = {row: loop if loop.trips is not None else Loop(trips) for row, loop in loops.trips.items()}
    return replace(loops, trips=lengths)


def test_unknowns_are_never_shown_as_nothing(compiled: Cost) -> None:
    """An instruction of unknown FLOPs has no place on the chart, and the total says "at least"."""
    roof = roofline.read(compiled, CATALOGUE["h100"], "cuda")
    unknown = np.isnan(roof.flops)
    assert np.isnan(roof.attainable[unknown]).all()
    assert compiled.flops_range.most is None or not unknown.any()
    assert all(bound is Ceiling.UNKNOWN for bound, is_open in zip(roof.bound, unknown, strict=True) if is_open)


def described(roof: Any) -> str:
    return str(roof.verdict)


def test_an_open_verdict_says_that_it_is_open() -> None:
    for work, exchanges in map(made, range(150)):
        roof = roofline.read(work, Device(), "cpu", exchanges)
        is_open = described(roof).startswith("Can't tell") or ", unless " in described(roof)
        assert is_open == (roof.outcome in UNDECIDED)
        assert (", unless " in described(roof)) == (roof.decision.condition is not None)


@pytest.mark.parametrize("seed", range(150))
def test_a_condition_holds_wherever_what_is_unknown_falls(seed: int) -> None:
    """FLOPs, a peak or a link are given times that together are just below the condition's, in eight random ways."""
    work, exchanges = made(seed)
    drawn = roofline.read(work, device := Device(), "cpu", exchanges)
    if (condition := drawn.decision.condition) is None:
        return
    random = np.random.default_rng(seed)
    doubts = {reason.doubt for reason in drawn.reasons}
    for _ in range(8):
        share = random.dirichlet(np.ones(len(work.ops) + 2)) * condition.seconds * 0.999
        flops = np.where(np.isnan(work.flops), share[:-2] * 100 / np.maximum(work.runs, 1), work.flops)
        known = replace(work, flops=flops if Doubt.FLOPS in doubts else np.nan_to_num(work.flops, nan=HUGE), unknown={})
        done = float((known.flops * known.runs)[[shape == "s32" for shape in dtypes(work)]].sum())
        vector = max(done, 1e-9) / share[-2] if Doubt.PEAK in doubts else device.vector.get("s32", 1e9)
        times = tuple(e._replace(seconds=share[-1], why="") if np.isnan(e.seconds) else e for e in exchanges)
        roof = roofline.read(known, replace(device, vector=device.vector | {"s32": vector}), "cpu", times)
        assert roof.bounded_by is condition.ceiling


def dtypes(work: Cost) -> list[str]:
    names = {number: name for name, number in NUMBER.items()}
    return [names[kind] for kind in work.ops.shapes.element_type.tolist()]


def test_a_condition_that_is_exceeded_is_overturned() -> None:
    """Memory 10 s and 4 s, computation 2 s; above 8 s of the second's computation that is more than memory has left."""
    moves, works = Instruction("a", "add", 0, 100), Instruction("c", "add", 200, 0)
    drawn = roofline.read(cost(moves, works, Instruction("b", "custom-call", NAN, 40)), Device(), "cpu")
    assert drawn.decision.condition == (Ceiling.MEMORY, 8.0)
    for seconds, ceiling in ((7.9, Ceiling.MEMORY), (8.1, Ceiling.COMPUTE)):
        roof = roofline.read(cost(moves, works, Instruction("b", "custom-call", seconds * 100, 40)), Device(), "cpu")
        assert roof.bounded_by is ceiling


def test_many_made_programs_have_a_condition() -> None:
    drawn = [roofline.read(work, Device(), "cpu", exchanges) for work, exchanges in map(made, range(150))]
    assert sum(roof.decision.condition is not None for roof in drawn) > 15
