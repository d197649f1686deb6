"""Cells with `--processes` that were staged in a job of real processes, as the kernel merges them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from several_processes import run_job

from jaxstage_ext import Inspection
from jaxstage_ext.notebook.several.group_reports import StagedCell, inspections
from jaxstage_ext.notebook.several.sent_cell import SentCell
from jaxstage_ext.processes.engines.engine_answer import EngineAnswer
from jaxstage_ext.processes.staged.process_staging import ProcessStaging

Told = Sequence[Mapping[str, Any]]


def stage_in_job(
    cells: Mapping[str, str], folder: Path, environments: Sequence[Mapping[str, str]] = (), processes: int = 2
) -> Told:
    """What each process tells of the cells, by name. The n-th is In [n + 1]; its first line is the magic's."""
    sent = {name: sent_cell(cell, number).to_dict() for number, (name, cell) in enumerate(cells.items(), 2)}
    (folder / "cells").write_text(json.dumps(sent))
    told = run_job("staged_cells.py", folder, str(folder / "cells"), environments=environments, processes=processes)
    for process, one in enumerate(told):
        assert one is not None, (folder / f"{process}.txt").read_text()[-3000:]
    return told


def sent_cell(cell: str, number: int) -> SentCell:
    """A cell as the kernel sends it."""
    head, _, body = cell.partition("\n")
    kind, _, line = head.removeprefix("%%").partition(" ")
    return SentCell(kind, line, body, f"# {head}\n{body}", cell, 1, number)


def merged(told: Told, name: str) -> Inspection:
    """The Inspection that the kernel makes of a cell."""
    stagings = {at: ProcessStaging.from_dict(one[name]["staging"], at) for at, one in enumerate(told)}
    [made] = inspections(_Recorded(told, name), StagedCell(name, "compile", stagings, True))
    return made


class _Recorded:
    """A job that answers what the processes have told."""

    def __init__(self, told: Told, name: str) -> None:
        self._told, self._name = told, name

    def ask(
        self, function: str, *arguments: object, patience: float | None = None, only: Sequence[int] | None = None
    ) -> tuple[EngineAnswer, ...]:
        asked = range(len(self._told)) if only is None else only
        return tuple(EngineAnswer(at, self._told[at][self._name]["report"]) for at in asked)
