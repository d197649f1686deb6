"""The table of a job's processes."""

from __future__ import annotations

from jaxstage_ext.processes.engines import whereabouts_wording as wording
from jaxstage_ext.processes.engines.engine_job import EngineJob
from jaxstage_ext.processes.engines.whereabouts import EngineActivity, Whereabouts
from jaxstage_ext.report.table import Column, Table


def status_table(job: EngineJob) -> Table:
    """Each process with its host, number, devices, what it does, and its last program of several processes."""
    found, programs = job.where(), job.programs()
    names = [programs[one.process] for one in job.processes]
    reasons = {(row, "last program"): wording.NOT_HERE for row, name in enumerate(names) if name is None}
    unknown = [row for row, one in enumerate(found) if one.activity is EngineActivity.UNKNOWN]
    reasons |= {(row, "state"): found[row].reason for row in unknown}
    columns = {
        "process": Column([one.process for one in job.processes], doc="jax.process_index()", is_whole=True),
        "host": Column([one.host for one in job.processes], doc="The host that it runs on"),
        "pid": Column([str(one.pid) for one in job.processes], doc="Its number in the system of that host"),
        "devices": Column([one.devices for one in job.processes], doc="How many are its own", is_whole=True),
        "state": Column([_state(one) for one in found], doc="What it does now", is_answer=True),
        "last program": Column(names, doc="The last program of several processes that it ran for the first time"),
    }
    lost = wording.lost_coordinator(found)
    return Table("processes", columns, reasons, (*job.notes, lost) if lost else job.notes)


def _state(one: Whereabouts) -> str | None:
    return None if one.activity is EngineActivity.UNKNOWN else wording.activity(one)
