"""What a program costs: a table, its roll-ups, the ledger and the roofline."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Unpack

import numpy as np

from jaxstage_ext.analysis.cost import cost_wording, cpu_time
from jaxstage_ext.analysis.cost.cpu_time import CpuTime
from jaxstage_ext.analysis.cost.equations import Equations
from jaxstage_ext.analysis.cost.module_cost import Cost
from jaxstage_ext.analysis.cost.roofline import Roofline
from jaxstage_ext.core.targets.machine_ceilings import MachineCeilings
from jaxstage_ext.profiling.predictions import predicted_timeline_wording
from jaxstage_ext.program.device import device_roofline
from jaxstage_ext.program.device.device_figures import is_for_this_machine, measured_ceilings
from jaxstage_ext.program.device.program_devices import device_count
from jaxstage_ext.program.fact import fact
from jaxstage_ext.program.predicting import estimated_columns
from jaxstage_ext.program.predicting.time_estimate import cheap_prediction, known_prediction
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions import ledger, module_work
from jaxstage_ext.program.running import measured_columns
from jaxstage_ext.program.running.measured import Measured, measured
from jaxstage_ext.report.rows.table_rows import RowChoice
from jaxstage_ext.report.table import Table
from jaxstage_ext.report.text.table_forms import Part, html_of, text_of
from jaxstage_ext.report.unavailable import Unavailable


@dataclass(frozen=True, eq=False)
class Costs:
    """The cost of one program on its target; of one that was not compiled there are the `equations` alone."""

    _program: Program = field(repr=False)

    @property
    def work(self) -> Cost:
        """The figures of each HLO instruction, and how often it runs. Raises Unavailable where nothing was compiled."""
        return module_work.work(self._program)

    @property
    def equations(self) -> Equations:
        """One row an equation of the jaxpr, before the compiler touched it. Raises Unavailable where there is none."""
        return module_work.equations(self._program)

    @property
    def is_compiled(self) -> bool:
        """Whether there is optimised HLO to count."""
        return self._program.has_hlo

    @property
    def table(self) -> Table:
        """One row an instruction, the most bytes first; a fusion has its members' work.

        Once a timeline of it is predicted, with the estimated time of a call; once it is profiled, with the measured
        time.
        """
        table = self._estimated(self.work.table, "instruction")
        if (times := self.measured) is None:
            return table
        return measured_columns.with_measured(table, self.work, self.roofline, times)

    def _estimated(self, table: Table, group: str) -> Table:
        known = cheap_prediction(self._program)
        if known is None or (prediction := known.recording.prediction) is None:
            return table
        return estimated_columns.with_estimates(table, known, prediction, group)

    @property
    def measured(self) -> Measured | None:
        """What the newest profile measured of each instruction; None until the program is profiled."""
        return measured(self._program)

    def by(self, group: str) -> Table:
        """Totals by "line", "scope", "computation", "opcode" or "dtype". Raises ValueError for another.

        Those by line have the estimated time of a call too, once a timeline of the program is predicted.
        """
        table = self.work.by(group)
        return self._estimated(table, group) if group == "line" else table

    def members(self, instruction: str) -> Table:
        """What a fusion, call or loop holds, one row an instruction. Raises ValueError where there is none."""
        return self.work.members(instruction)

    @property
    def ledger(self) -> Table:
        """The same work counted on the jaxpr, on the HLO, and by XLA, with the reasons where they differ.

        Once profiled, with the measured time of a run.
        """
        return ledger.with_measured(ledger.ledger(self._program), self.measured)

    @property
    def roofline(self) -> Roofline:
        """Each instruction against the peaks of the target; `verdict` says what bounds the program.

        Once profiled, with the measured time of each.
        """
        return device_roofline.with_measured(device_roofline.device_roofline(self._program), self.measured)

    @property
    def expected(self) -> CpuTime:
        """How long a call is expected to take on this machine's CPU, and between which times: an estimate, no bound.

        Raises Unavailable, with the reason, of programs for other devices or several, and where a bound is unknown.
        """
        program, roof = self._program, self.roofline
        if not is_for_this_machine(program):
            raise Unavailable(cost_wording.NOT_EXPECTED_ELSEWHERE)
        if device_count(program) > 1:
            raise Unavailable(cost_wording.NOT_EXPECTED_OF_SEVERAL)
        if not roof.total or np.isnan(roof.seconds).any():
            raise Unavailable(cost_wording.NOT_EXPECTED_UNKNOWN)
        if isinstance(found := measured_ceilings(program), MachineCeilings) and found.was_busy:
            raise Unavailable(cost_wording.NOT_EXPECTED_BUSY)
        return cpu_time.predicted(cpu_time.work_of(roof, self.work))

    @property
    def headline(self) -> str:
        """FLOPs, transcendental functions and bytes in one sentence.

        They are ranges where loops, branches or unknown counts leave them open.
        """
        work = self.work
        near = module_work.share_on_chip(self._program)
        host = module_work.share_on_host(self._program)
        figures = (work.flops_range, work.bytes_range, work.total_transcendentals, near, host)
        if self._program.is_to_be_partitioned:
            return cost_wording.headline(*figures, "before it is partitioned, on all devices together")
        return cost_wording.headline(*figures)

    @property
    def verdicts(self) -> list[str]:
        """What bounds the program by the peaks of its device, and the estimated time of a call where it is known."""
        prediction = known_prediction(self._program)
        estimate = [] if prediction is None else [predicted_timeline_wording.estimate(prediction)]
        return [self.roofline.verdict, *estimate]

    def _parts(self) -> list[Part]:
        if not self.is_compiled:
            return [str(self.equations)]
        return [self.headline, *self.verdicts, *self._expected_line, "", self.ledger, "", self.table]

    @property
    def _expected_line(self) -> list[str]:
        try:
            return [str(self.expected)]
        except Unavailable:
            return []

    def __str__(self) -> str:
        return text_of(self._parts())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_of(self._parts())

    def to_pandas(self) -> Any:
        """The table as a pandas.DataFrame. Raises ImportError, with the pip line, where pandas is missing."""
        return self.table.to_pandas()

    def to_json(self, **rows: Unpack[RowChoice]) -> str:
        """The table as versioned JSON; with `limit`, `by` or `where`, rows of it, as `Table.to_json` has them."""
        return self.table.to_json(**rows)


@fact
def cost(program: Program) -> Costs:
    """The work of a program, counted when it is asked for.

    Raises Unavailable, a ValueError, where JAX traced nothing and nothing was compiled.
    """
    if program.jax_traced is None and not program.has_hlo:
        program.proto()
    return Costs(program)
