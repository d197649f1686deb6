"""What Shardy makes of a lowered module under one layout after another: asked of workers, which may die of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

from jaxstage_ext.core.layout import layout_checks, op_lines
from jaxstage_ext.ir.partitioning.module_layout import ModuleLayout
from jaxstage_ext.ir.partitioning.partitionable_module import PartitionableModule, module_of
from jaxstage_ext.ir.partitioning.partitioned_module import PartitionedModule, partitioned_of
from jaxstage_ext.report.progress import Progress
from jaxstage_ext.report.unavailable import Unavailable
from jaxstage_ext.worker.request_errors import RequestFailed, WorkerDied

BATCH = 16_000
"""Operations of the layouts of one request together: about a second's work."""
TIMEOUT = 120.0
"""Seconds for one request."""
_POLL = 0.5
_PLATFORM = "cpu"
Answer = PartitionedModule | Unavailable


class Partitioner:
    """Partitions one module, in as many workers at once as it is given."""

    def __init__(self, module: bytes, workers: int = 1, with_constraints: bool = True) -> None:
        """Open StableHLO bytecode. Raises Unavailable where XLA's partitioner does not take it.

        Args:
          module: whose own shardings of arguments and results do not matter.
          workers: processes that partition at once.
          with_constraints: whether the `with_sharding_constraint`s in it hold; those that JAX makes of types with
            explicit axes do not.
        """
        from jaxstage_ext.worker import pool  # it needs Unix

        self._opened = {"module": module, "with_constraints": with_constraints}
        self._lanes = pool.PARTITIONS[: max(workers, 1)]
        self.lost = 0
        """Layouts that a worker died of."""
        try:
            self.module: PartitionableModule = module_of(self._open(), op_lines.line_of)
        except (RequestFailed, WorkerDied) as error:
            raise Unavailable(f"XLA's partitioner does not take this program: {_first_line(error)}") from None

    def partition(self, layouts: Sequence[ModuleLayout], progress: Progress | None = None) -> list[Answer]:
        """What each layout makes of the module, in their order; Unavailable, with the reason, of one that it refuses.

        `progress` is called with the seconds and how many are done, "34 of 330"; what it raises ends the work once
        the batches under way are done.
        """
        answers: list[Answer | None] = [layout_checks.refusal(self.module, layout) for layout in layouts]
        asked = [at for at, answer in enumerate(answers) if answer is None]
        size = max(BATCH // max(len(self.module.ops), 1), 1)
        batches = [asked[at : at + size] for at in range(0, len(asked), size)]
        started = time.monotonic()

        def tell() -> None:
            if progress is not None:
                done = sum(answer is not None for answer in answers)
                progress(time.monotonic() - started, f"{done} of {len(layouts)}")

        def run(lane: str, batch: list[int]) -> None:
            for at, answer in zip(batch, self._batch(lane, [layouts[at] for at in batch]), strict=True):
                answers[at] = answer

        _spread(self._lanes, batches, run, tell)
        return [answer for answer in answers if answer is not None]

    def _batch(self, lane: str, layouts: Sequence[ModuleLayout]) -> list[Answer]:
        """The answers of one worker. Where it dies each layout is asked by itself; what it dies of is lost."""
        try:
            answers = self._ask(lane, [layout.request() for layout in layouts])
        except WorkerDied as died:
            if died.cause == "stopped":
                raise
            if len(layouts) == 1:
                self.lost += 1
                return [Unavailable(f"the partitioner died of this layout: {died.summary}")]
            return [answer for layout in layouts for answer in self._batch(lane, [layout])]
        return [self._read(layout, answer) for layout, answer in zip(layouts, answers, strict=True)]

    def _read(self, layout: ModuleLayout, answer: dict[str, Any]) -> Answer:
        if "error" in answer:
            return Unavailable(f"Shardy refuses this layout: {_first_line(answer['error'])}")
        return partitioned_of(self.module, layout, answer)

    def _ask(self, lane: str, layouts: list[dict[str, Any]]) -> list[dict[str, Any]]:
        from jaxstage_ext.worker import pool

        request = {"method": "partition", "key": self.module.key, "layouts": layouts}
        try:
            answers: list[dict[str, Any]] = pool.ask(_PLATFORM, dict(request), TIMEOUT, lane=lane)
        except RequestFailed as failed:
            if failed.type != "UnknownModule":
                raise
            answers = pool.ask(_PLATFORM, request | {"opened": self._opened}, TIMEOUT, lane=lane)
        return answers

    def _open(self) -> dict[str, Any]:
        from jaxstage_ext.worker import pool

        request = {"method": "open_partitionable", **self._opened}
        opened: dict[str, Any] = pool.ask(_PLATFORM, request, TIMEOUT, lane=self._lanes[0])
        return opened


def _spread(
    lanes: Sequence[str], batches: Sequence[list[int]], run: Callable[[str, list[int]], None], tell: Callable[[], None]
) -> None:
    """Run batches in the lanes, one at a time in each; `tell` is called meanwhile, in this thread."""
    left, taken = list(batches[::-1]), threading.Lock()
    stopped = threading.Event()

    def work(lane: str) -> None:
        while not stopped.is_set():
            with taken:
                if not left:
                    return
                batch = left.pop()
            run(lane, batch)

    with ThreadPoolExecutor(len(lanes)) as threads:
        running: set[Future[None]] = {threads.submit(work, lane) for lane in lanes[: len(batches)]}
        try:
            while running:
                done, running = wait(running, _POLL, FIRST_COMPLETED)
                for each in done:
                    each.result()
                tell()
        finally:
            stopped.set()


def _first_line(error: object) -> str:
    """What an error says; of MLIR's, which begins with the pass that failed, the line that says why."""
    lines = str(error).splitlines() or [type(error).__name__]
    return next((line for line in lines if "error:" in line), lines[0])
