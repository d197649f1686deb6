"""A prediction beside a profile."""

from typing import Any

from wordings import constants

from jaxstage_ext.profiling.predictions import check_wording as wording
from jaxstage_ext.profiling.predictions.instruction_runs import InstructionRun, InstructionRuns
from jaxstage_ext.profiling.predictions.prediction_check import prediction_check

ONE, OTHER = InstructionRun(1e-3, "In [2]:7", 3), InstructionRun(2e-3, "", -1, 4)
PREDICTED = InstructionRuns({"dot.1": ONE, "dot.2": ONE}, 1, "jit_step")


def notes(**measured: Any) -> list[str]:
    made = InstructionRuns(**{"by_name": {"dot.1": OTHER}, "runs": 4, "module": "jit_step", **measured})
    return list(wording.notes(PREDICTED, made, 3.1e-3))


def headline(by: str, **measured: InstructionRun) -> str:
    return wording.headline(prediction_check(PREDICTED, InstructionRuns(measured, 4, "jit_step"), 0.0, by))


SAID = {
    **constants(wording),
    "by kernel": wording.unknown_group("kernel", ("op", "line")),
    "notes": notes(),
    "notes, another module": notes(module=""),
    "notes, modules without names": list(
        wording.notes(InstructionRuns({}, 1, ""), InstructionRuns({"dot.1": OTHER}, 4, ""), 0.0)
    ),
    "notes, no runs": notes(runs=0),
    "notes, runs inferred": notes(is_inferred=True),
    "headline": [headline("op", **{"dot.1": OTHER}), headline("line", **{"dot.1": OTHER}), headline("op")],
    "headline, no line": headline("line", **{"other.1": OTHER, "other.2": OTHER}),
    "headline, nothing missed": headline("op", **{"dot.1": ONE, "dot.2": ONE}),
}
