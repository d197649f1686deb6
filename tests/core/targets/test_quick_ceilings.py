"""Ceilings of this machine's CPU that are measured when they are first needed: when, how often, what is said."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import jax.numpy as jnp
import panel_requests
import pytest

import jaxstage_ext
from jaxstage_ext.analysis.cost.ceilings import Outcome
from jaxstage_ext.core.targets import machine_ceilings, quick_ceilings
from jaxstage_ext.core.targets.machine_ceilings import MachineCeilings
from jaxstage_ext.core.targets.quick_ceilings import NotMeasured
from jaxstage_ext.ir.sources import run_cells
from jaxstage_ext.notebook.settings import JAXStage
from jaxstage_ext.panel import panel_state
from jaxstage_ext.panel.saving.first_replies import keep_first_replies
from jaxstage_ext.panel.saving.kept_replies import KeptReplies
from jaxstage_ext.program.questions import answers
from jaxstage_ext.report import kernel_settings, measuring
from jaxstage_ext.store import cache
from jaxstage_ext.worker import pool

RATES = {
    "products": {"f32": 2e11, "f64": 1e11},
    "bandwidth": 4e10,
    "cache_bandwidth": 1e11,
    "functions": [[1e9, 4e9], [2e8, 6e9], [3e8, 1e9]],
    "seconds": 0.7,
}
EXACT = MachineCeilings({"f32": 4e11}, 5e10, 1 << 25, 1e11, ((1e9, 4e9),) * 3, "a CPU", 2, "2026-11-22")
CELL = run_cells.CellAtWork("a", "In [1]")


class FakeWorker:
    """What `pool.ask` answers; `during` runs while it is asked."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.during: Callable[[], object] = lambda: None
        self.error: Exception | None = None
        self.real = pool.ask

    def ask(self, platform: str, request: dict[str, Any], *arguments: Any, **how: Any) -> Any:
        if how["lane"] != pool.MEASURE:
            return self.real(platform, request, *arguments, **how)
        self.asked.append(request)
        self.during()
        if self.error is not None:
            raise self.error
        return RATES


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeWorker]:
    made = FakeWorker()
    monkeypatch.setattr(pool, "ask", made.ask)
    monkeypatch.setattr(quick_ceilings.os, "getloadavg", lambda: (0.0, 0.0, 0.0))
    quick_ceilings.forget()
    kernel_settings.change(measures_cpu=True)
    yield made
    run_cells.end()
    kernel_settings.change(measures_cpu=False)
    quick_ceilings.forget()


def _inspected() -> Any:
    return jaxstage_ext.inspect(lambda x: x @ x, jnp.ones((512, 512)))


def _in_thread(run: Callable[[], Any]) -> Any:
    given: list[Any] = []
    thread = threading.Thread(target=lambda: given.append(run()))
    thread.start()
    thread.join()
    return given[0]


def test_the_worker_measures_what_physics_allows_without_jax() -> None:
    request = {"method": "measure_ceilings", "seconds": 0.0, "memory": 1 << 20, "cache": 1 << 18}
    try:
        rates = pool.ask("cpu", request, lane=pool.MEASURE)
        assert not pool.ask("cpu", {"method": "ping"}, lane=pool.MEASURE)["jax"]
    finally:
        pool.restart("cpu", pool.MEASURE)
    assert 1e7 < rates["products"]["f32"] < 1e15
    assert rates["bandwidth"] is None or 1e7 < rates["bandwidth"] < 1e14
    assert 1e7 < rates["cache_bandwidth"] < 1e14
    assert len(rates["functions"]) == 3 and all(0 < 3 * slow < fast for slow, fast in rates["functions"])


def test_the_first_look_measures_once_and_says_how_sure_it_is(worker: FakeWorker) -> None:
    inspection = _inspected()
    assert not worker.asked
    roof = inspection.cost.roofline
    assert roof.outcome is Outcome.BOUND
    assert roof.total == pytest.approx(2 * 512**3 / 2e11)
    assert roof.title == "this machine's CPU (measured in 0.7 s, up to about 50% too low)"
    assert roof.verdict in answers.bound(inspection.program).text
    assert _inspected().cost.roofline.total == roof.total
    assert len(worker.asked) == 1


def test_showing_and_saving_measure_nothing_and_settle_nothing(worker: FakeWorker, tmp_path: Any) -> None:
    inspection = _inspected()
    panel_state.state_of([inspection.program], busy=False)
    keep_first_replies([inspection.program], kept := KeptReplies())
    assert kept.of(inspection.program).replies
    shown = inspection._repr_mimebundle_()
    inspection.to_html(tmp_path / "page.html", all=True)
    inspection.to_json()
    assert not worker.asked
    assert "Bound by" not in str(shown)
    assert inspection.cost.roofline.outcome is Outcome.BOUND
    assert "Bound by compute" in inspection._repr_mimebundle_()["text/plain"]


def test_off_is_off(worker: FakeWorker) -> None:
    kernel_settings.change(measures_cpu=False)
    roof = _inspected().cost.roofline
    assert (roof.outcome, worker.asked) == (Outcome.NO_PEAKS, [])
    assert roof.how_to_measure.startswith("jaxstage_ext.measure_ceilings() measures")


def test_what_was_unknown_is_answered_once_it_is_measured(worker: FakeWorker) -> None:
    """The remedy is followed, and the same inspection asked again."""
    kernel_settings.change(measures_cpu=False)
    inspected = _inspected()
    unknown = inspected.answers["answer"][0]
    assert inspected.cost.roofline.outcome is Outcome.NO_PEAKS
    kernel_settings.change(measures_cpu=True)
    assert inspected.answers["answer"][0] != unknown and inspected.cost.roofline.outcome is not Outcome.NO_PEAKS


def test_a_setting_turns_it_off_and_on(worker: FakeWorker) -> None:
    settings = JAXStage.instance()
    try:
        for on in (True, False):
            settings.measure_cpu = not on
            settings.measure_cpu = on
            assert kernel_settings.now().measures_cpu is on
            assert isinstance(quick_ceilings.ceilings(), MachineCeilings if on else NotMeasured)
            machine_ceilings.forget()
    finally:
        settings.measure_cpu = False


def test_while_a_cell_runs_only_what_it_waits_for_is_measured(worker: FakeWorker) -> None:
    inspection = _inspected()
    run_cells.begin(CELL)
    assert _in_thread(lambda: inspection.cost.roofline.outcome) is Outcome.NO_PEAKS
    assert not worker.asked
    assert inspection.cost.roofline.outcome is Outcome.BOUND
    assert len(worker.asked) == 1


def test_an_answer_waits_for_the_cell_and_says_so(worker: FakeWorker) -> None:
    inspection, told = _inspected(), []
    run_cells.begin(CELL)

    def hear(seconds: float, step: str | None) -> None:
        told.append(step)
        run_cells.end()

    found = _in_thread(lambda: quick_ceilings.ceilings(hear, waits=True))
    assert isinstance(found, MachineCeilings)
    assert told[0] == quick_ceilings.WAITING and quick_ceilings.STEP in told
    answer, _ = panel_requests.ask(inspection.program, "answer", question="bound")
    assert "Bound by compute" in answer["text"]


def test_a_cell_that_begins_ends_the_measurement(worker: FakeWorker, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped: list[tuple[str, str]] = []
    monkeypatch.setattr(pool, "stop", lambda platform, lane: stopped.append((platform, lane)))
    worker.error = pool.WorkerDied("stopped", "stopped")
    worker.during = lambda: run_cells.begin(CELL)
    assert _in_thread(quick_ceilings.ceilings) is NotMeasured.CELL_RUNS
    assert stopped == [("cpu", pool.MEASURE)]
    run_cells.end()
    worker.error, worker.during = None, lambda: None
    assert isinstance(quick_ceilings.ceilings(), MachineCeilings)


def test_a_worker_that_dies_leaves_them_unknown_and_is_not_asked_again(worker: FakeWorker) -> None:
    worker.error = pool.WorkerDied("the compile worker for cpu was ended by SIGSEGV", "signal")
    for roof in (_inspected().cost.roofline, _inspected().cost.roofline):
        assert roof.outcome is Outcome.NO_PEAKS and "SIGSEGV" in roof.how_to_measure
    assert len(worker.asked) == 1


def test_an_interrupt_leaves_nothing(worker: FakeWorker) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    worker.during = interrupt
    with pytest.raises(KeyboardInterrupt):
        quick_ceilings.ceilings()
    worker.during = lambda: None
    assert isinstance(quick_ceilings.ceilings(), MachineCeilings)


def test_exact_ones_win_and_a_program_keeps_what_it_was_held_against(worker: FakeWorker) -> None:
    first = _inspected()
    seconds = first.cost.roofline.total
    machine_ceilings.keep(EXACT)
    assert _inspected().cost.roofline.total == pytest.approx(2 * 512**3 / 4e11)
    assert first.compare()["time"] == pytest.approx([seconds])
    assert first.cost.roofline.total == seconds


def test_they_are_kept_for_later_kernels_unless_the_machine_was_busy(
    worker: FakeWorker, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.use_folder(tmp_path)
    for load, asked in ((99.0, 1), (0.0, 2), (0.0, 2)):
        monkeypatch.setattr(quick_ceilings.os, "getloadavg", lambda load=load: (load, load, load))
        found = quick_ceilings.ceilings()
        assert isinstance(found, MachineCeilings)
        assert ("busy" in found.device().title) == (load > 0)
        assert len(worker.asked) == asked
        machine_ceilings._Ceilings.quick = None
        cache.clear()


def test_another_cpu_other_cores_and_another_jaxlib_have_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [machine_ceilings.quick_key()]
    monkeypatch.setattr(machine_ceilings, "cpu_model", lambda: "another CPU")
    keys.append(machine_ceilings.quick_key())
    monkeypatch.setattr(machine_ceilings.os, "sched_getaffinity", lambda pid: {0})
    keys.append(machine_ceilings.quick_key())
    monkeypatch.setattr(cache, "_versions", lambda: ("0.13", "0.13", "1"))
    keys.append(machine_ceilings.quick_key())
    assert len(set(keys)) == 4


def test_left_alone_lasts_as_long_as_its_block(worker: FakeWorker) -> None:
    with measuring.left_alone():
        assert quick_ceilings.ceilings() is NotMeasured.LEFT_ALONE
        assert isinstance(_in_thread(quick_ceilings.ceilings), MachineCeilings)
    assert len(worker.asked) == 1
