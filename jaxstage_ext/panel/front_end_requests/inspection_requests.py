"""`inspections`: those of the notebook, newest first. `free`: let go of one."""

from __future__ import annotations

import gc
import time
import weakref
from typing import TYPE_CHECKING, Any

from jaxstage_ext.panel.connection import Connection, FrontEndMethod
from jaxstage_ext.panel.inspection_list import Listed, listed
from jaxstage_ext.panel.params import Answer, BadRequest, Params, quoted
from jaxstage_ext.panel.showing import display
from jaxstage_ext.program.head import stage_wording
from jaxstage_ext.views import computed_facts
from jaxstage_ext.views.summaries import call_title

if TYPE_CHECKING:
    from jaxstage_ext.program.program import Program

MOST_LISTED, LONGEST_TITLE, LONGEST_SIGNATURE = 200, 300, 4000
_STAGE = ("name", "state", "seconds", "note")
LETTING_GO, POLL = 5.0, 0.02
"""Seconds within which a stopped job, timer or request of a panel has ended, and between two looks."""
WAITING, RUNNING, DONE, FAILED, INTERRUPTED = "waiting", "running", "done", "failed", "interrupted"


def _inspections(connection: Connection, params: Params) -> Answer:
    calls = listed(connection.notebook.variables())
    return {
        "inspections": [_described(call) for call in calls[:MOST_LISTED]],
        "left_out": max(0, len(calls) - MOST_LISTED),
    }, []


def cell_label(call: Listed) -> str:
    """Its cell's, such as "In [3]"; empty for code outside of cells, which would have the number of the next one."""
    return "" if call.cell is None else (call.first.call.cell or call.first.origin.label or "")


def _described(call: Listed) -> dict[str, Any]:
    from jaxstage_ext.program.device.inspection_memory import held_memory  # it imports JAX

    origin = call.first.origin
    return {
        "id": call.id,
        "model": call.models[-1] if call.models else None,
        "cell": call.cell,
        "label": cell_label(call),
        "name": call.first.name[:LONGEST_TITLE],
        "signature": call_title(call.first)[:LONGEST_SIGNATURE],
        "made": origin.made,
        "status": _worst([_status(program) for program in call.programs]),
        "live": bool(call.models),
        "variables": call.variables,
        "finding": computed_facts.best_finding(call.first)[:LONGEST_TITLE],
        "targets": [_target(program) for program in call.programs],
        "memory": [held._asdict() for held in held_memory(call.first)],
    }


def _target(program: Program) -> dict[str, Any]:
    error, head = program.error, program.saved_summary
    staged = [
        (stage.name, program.staged.shown_state(stage), stage.seconds, stage_wording.note(stage))
        for stage in program.staged.stages
    ]
    saved = [(each["name"], each["state"], each["seconds"], each["note"]) for each in head["stages"]] if head else []
    return {
        "target": program.label,
        "status": _status(program),
        "stages": [dict(zip(_STAGE, stage, strict=True)) for stage in (saved if head else staged)],
        "error": " ".join(f"{error.type}: {error.message}".split())[:LONGEST_TITLE] if error else None,
    }


def _status(program: Program) -> str:
    if (error := program.error) is not None:
        return INTERRUPTED if error.interrupted else FAILED
    if program.is_running:
        return RUNNING
    states = [] if program.saved_summary else [stage.state for stage in program.staged.stages]
    return WAITING if WAITING in states else DONE


def _worst(states: list[str]) -> str:
    return next(state for state in (RUNNING, INTERRUPTED, FAILED, WAITING, DONE) if state in states)


def inspection_of(connection: Connection, params: Params, name: str = "id") -> Listed:
    """The inspection that a parameter names: by the id that `inspections` gives, or by the model of its panel."""
    wanted, calls = params.get(name), listed(connection.notebook.variables())
    for call in calls:
        if isinstance(wanted, str) and wanted and wanted in (call.id, *call.models):
            return call
    raise BadRequest(
        f"there is no inspection {quoted(wanted)} any more; it was freed, its cell ran again, or its kernel restarted"
    )


def _free(connection: Connection, params: Params) -> Answer:
    """Turn the panels that show it static, and let go of it. The reply says which variables still hold it."""
    call = inspection_of(connection, params, "id" if "id" in params else "model")
    variables, holders = call.variables, [weakref.ref(program) for program in call.programs]
    display.freeze(call.programs)
    del call
    return {"freed": _are_gone(holders, 0 if variables else LETTING_GO), "variables": variables}, []


def _are_gone(holders: list[weakref.ref[Program]], seconds: float) -> bool:
    """Whether nothing holds them, once the threads that are stopped have ended, for which it waits so long at most."""
    until = time.monotonic() + seconds
    while True:
        began = time.monotonic()
        gc.collect()
        if all(holder() is None for holder in holders):
            return True
        if (now := time.monotonic()) >= until:
            return False
        time.sleep(min(max(POLL, 9 * (now - began)), until - now))  # in a large kernel one search takes long


METHODS: dict[str, FrontEndMethod] = {"inspections": _inspections, "free": _free}
