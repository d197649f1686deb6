"""When a measurement stops, on a clock of the test's own; what it counts, and what an interrupt leaves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from jaxstage_ext.profiling.timing import sampling
from jaxstage_ext.profiling.timing.sample_sources import HostClock
from jaxstage_ext.profiling.timing.sampling import Plan, Sample


@dataclass
class Machine:
    """A call that takes given seconds, on a clock that stands still otherwise; preparing it takes a second."""

    seconds: Callable[[int], float]
    time: float = 0.0
    runs: int = 0
    prepared: int = 0
    fails_at: int = -1

    def now(self) -> float:
        return self.time

    def now_ns(self) -> int:
        return round(self.time * 1e9)

    def prepare(self) -> None:
        self.prepared += 1
        self.time += 0.001

    def run(self) -> None:
        if self.runs == self.fails_at:
            raise KeyboardInterrupt
        self.time += self.seconds(self.runs)
        self.runs += 1


def _sampled(machine: Machine, plan: Plan) -> sampling.Sampled:
    return sampling.sample(machine, HostClock(machine.now_ns), plan)


def test_a_steady_call_stops_at_32_runs_and_preparing_is_not_timed() -> None:
    machine = Machine(lambda run: 0.01)
    sampled = _sampled(machine, Plan(now=machine.now))
    assert len(sampled.samples) == machine.prepared == 32
    assert {round(sample.seconds, 9) for sample in sampled.samples} == {0.01}


def test_a_noisy_call_takes_the_whole_budget_and_a_slow_one_three_runs() -> None:
    noisy = Machine(lambda run: 0.01 * (1 + run % 2))
    assert _sampled(noisy, Plan(2.0, now=noisy.now)).samples
    assert 2.0 <= noisy.time < 2.05
    slow = Machine(lambda run: 60.0)
    assert len(_sampled(slow, Plan(2.0, now=slow.now)).samples) == 3


def test_a_number_of_runs_is_kept_to_whatever_it_takes() -> None:
    machine = Machine(lambda run: 60.0)
    assert len(_sampled(machine, Plan(2.0, runs=7, now=machine.now)).samples) == 7


def test_an_interrupt_leaves_the_runs_until_then_and_is_raised_before_the_first() -> None:
    machine = Machine(lambda run: 0.01, fails_at=4)
    sampled = _sampled(machine, Plan(now=machine.now))
    assert (len(sampled.samples), sampled.interrupted) == (4, True)
    machine = Machine(lambda run: 0.01, fails_at=0)
    with pytest.raises(KeyboardInterrupt):
        _sampled(machine, Plan(now=machine.now))


def test_progress_is_reported_twice_a_second() -> None:
    machine, heard = Machine(lambda run: 0.1), []
    plan = Plan(2.0, runs=20, progress=lambda seconds, step: heard.append((round(seconds, 1), step)), now=machine.now)
    _sampled(machine, plan)
    assert heard == [(0.5, "5 runs"), (1.0, "10 runs"), (1.5, "15 runs"), (2.0, "20 runs")]


def test_warm_up_takes_a_tenth_of_the_budget_and_five_runs_at_most() -> None:
    slow = Machine(lambda run: 1.0)
    assert sampling.warm_up(slow, Plan(2.0, now=slow.now)) == pytest.approx((1.0,))
    fast = Machine(lambda run: 1e-6)
    assert len(sampling.warm_up(fast, Plan(2.0, now=fast.now))) == 5


@dataclass
class Batches:
    """A source of batches, each of which takes as long as 100 runs more."""

    machine: Machine
    counts: list[int] = field(default_factory=list)
    makes_batches: bool = True

    def samples(self, call: sampling.TimedCall, count: int) -> Sequence[Sample]:
        self.counts.append(count)
        self.machine.time += 0.1
        for _ in range(count):
            call.run()
        return [Sample(0.001)] * count


def test_batches_grow_and_keep_to_the_budget_and_the_runs() -> None:
    machine = Machine(lambda run: 0.001)
    batches = Batches(machine)
    sampling.sample(machine, batches, Plan(2.0, runs=100, now=machine.now))
    assert batches.counts == [1, 2, 4, 8, 16, 32, 37]
    machine = Machine(lambda run: 1.0)
    batches = Batches(machine)
    sampling.sample(machine, batches, Plan(5.0, now=machine.now))
    assert batches.counts == [1, 2, 1, 1]
