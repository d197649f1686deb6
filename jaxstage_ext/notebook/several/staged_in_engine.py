"""What the engines do for `--processes`: stage a cell's calls without running them, and give reports of them.

Takes and gives plain data; the kernel asks for these functions by name.
"""

from __future__ import annotations

import contextlib
import io
import json
import socket
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jaxstage_ext.api.inspection import Inspection
from jaxstage_ext.core.stage import stage_list
from jaxstage_ext.core.stage.stage_definition import COMPILE
from jaxstage_ext.core.stage.staged import Cache
from jaxstage_ext.notebook.cells.toplevel_await import awaits, drive
from jaxstage_ext.notebook.lines import command_line
from jaxstage_ext.notebook.lines.stage_line import stage_line
from jaxstage_ext.notebook.several.engine_request import EngineRequest
from jaxstage_ext.notebook.several.sent_cell import CellInEngine, SentCell
from jaxstage_ext.notebook.several.staging_errors import error_of_cell, error_of_stage
from jaxstage_ext.panel.jobs import answered_at_once
from jaxstage_ext.panel.params import failure
from jaxstage_ext.panel.replying import named
from jaxstage_ext.panel.requests import asked_elsewhere, dispatch
from jaxstage_ext.processes.inside import compile_rows
from jaxstage_ext.processes.inside.compared_program import ComparedProgram, compared_program
from jaxstage_ext.processes.staged.process_staging import CallStaging, ProcessStaging, StagingError
from jaxstage_ext.store import cache, maker

MOST_KEPT = 8
"""Cells whose calls an engine keeps, for what is asked later."""
_MOST_PRINTED = 10_000


@dataclass(frozen=True, eq=False)
class StagedHere:
    """A call that this process has staged."""

    inspection: Inspection
    program: ComparedProgram | None


_kept: OrderedDict[str, tuple[StagedHere, ...]] = OrderedDict()


def begin() -> None:
    """Keep the compile log of this process from now on; importing this module took most of a first call."""
    compile_rows.start_log()


def stage_cell(sent: Mapping[str, Any], handle: str) -> dict[str, Any]:
    """Run the definitions of a `SentCell` here, and stage its calls. Returns a `ProcessStaging` as plain data.

    Args:
      sent: a `SentCell` as plain data.
      handle: what the calls are asked for by later; the same in all processes.
    """
    began, ip, cell = time.perf_counter(), _shell(), SentCell.from_dict(sent)
    cache.enable(cell.is_cached)
    printed, error, staged = io.StringIO(), None, tuple[StagedHere, ...]()
    try:
        with contextlib.redirect_stdout(printed):
            staged = _staged(ip, cell)
    except (Exception, SystemExit) as raised:
        error = error_of_cell(raised, ip.user_ns)
    until = time.perf_counter()
    calls = [_call(each, ip.user_ns) for each in staged]
    now, text = time.perf_counter(), printed.getvalue()[:_MOST_PRINTED]
    _keep(handle, staged)
    return ProcessStaging(0, socket.gethostname(), calls, error, text, now - began, now - until).to_dict()


def _shell() -> Any:
    """The engine's IPython, in whose namespace `%%px` runs too."""
    from IPython.core.interactiveshell import InteractiveShell

    return InteractiveShell.instance()


def _staged(ip: Any, sent: SentCell) -> tuple[StagedHere, ...]:
    asked = command_line.parse(sent.line, stage_line(stage_list.definition(sent.kind)))
    running = CellInEngine(ip, sent)
    request = EngineRequest(ip, running, sent.kind, asked)
    running.begin()
    try:
        drive(ip, request.run_cell(sent.line, sent.cell), awaits(ip, asked.code, sent.cell))
    finally:
        running.end()
    return tuple(StagedHere(each, _program(request, each)) for each in request.inspections)


def _program(request: EngineRequest, inspection: Inspection) -> ComparedProgram | None:
    program = inspection.program
    options = dict(inspection.call.compiler_options)
    return compared_program(
        inspection.name, program.jax_traced, program.jax_lowered, options, request.place(inspection)
    )


def _call(staged: StagedHere, space: Mapping[str, Any]) -> CallStaging:
    inspection, program = staged.inspection, staged.program
    return CallStaging(
        inspection.name,
        program.pending.name if program is not None else inspection.name,
        program.place_label if program is not None else "",
        program.digests() if program is not None else {},
        _seconds(inspection),
        program.spans if program is not None else None,
        _error(inspection, space),
        **_compile(inspection),
    )


def _seconds(inspection: Inspection) -> dict[str, float]:
    """Of each stage; of an executable that was read those of its compile."""
    own = inspection.program.seconds
    stage = inspection.program.staged.stage(COMPILE)
    if stage is None or stage.hit is None or stage.hit.cache not in (Cache.JOB, Cache.INSPECTION):
        return own
    made = stage.hit.first_seconds
    return own | ({COMPILE: made} if made is not None else {})


def _compile(inspection: Inspection) -> dict[str, Any]:
    """Which process compiled it, and whether it is shared: "compiled_by" and "sharing"."""
    stage = inspection.program.staged.stage(COMPILE)
    if stage is None or stage.value is None:
        return {}
    is_kept = stage.hit is not None and stage.hit.cache in (Cache.INSPECTION, Cache.PERSISTENT)
    other = stage.hit.process if stage.hit is not None else None
    by = maker.me().process if other is None and not is_kept else other
    return {"compiled_by": by, "sharing": stage.sharing}


def _error(inspection: Inspection, space: Mapping[str, Any]) -> StagingError | None:
    return error_of_stage(inspection.error, space) if inspection.error is not None else None


def _keep(handle: str, staged: tuple[StagedHere, ...]) -> None:
    _kept[handle] = staged
    while len(_kept) > MOST_KEPT:
        _kept.popitem(last=False)


def kept(handle: str, number: int) -> StagedHere | None:
    """A call that this process has staged, by its number in its cell; None where it is not kept any more."""
    staged = _kept.get(handle, ())
    return staged[number] if number < len(staged) else None


def report(handle: str, number: int, source: bool | None, has_texts: bool) -> dict[str, Any] | None:
    """The Inspection of a call as JSON; None where it is gone. With the texts that are compared, where they are wanted.

    Args:
      handle: what `stage_cell` was given.
      number: the call's, in its cell.
      source: as of `Inspection.to_json`.
      has_texts: whether the texts that are compared are wanted too.
    """
    staged = kept(handle, number)
    if staged is None:
        return None
    texts = staged.program.texts().packed() if has_texts and staged.program is not None else None
    views = {name: _views(target) for name, target in staged.inspection.targets.items()}
    return {"json": staged.inspection.to_json(source), "texts": texts, "views": views}


def _views(inspection: Inspection) -> list[str]:
    return [view for view in inspection.summary()["views"] if view not in asked_elsewhere.HERE]


def answer(handle: str, number: int, target: str, method: str, params: Mapping[str, Any]) -> dict[str, Any] | None:
    """What a request of a panel answers about a call that was staged here; None where it is gone.

    Returns "result", as JSON, and "buffers"; or "error", with its "kind" and its "message", and whether a worker's
    "log" may explain it.

    Args:
      handle: what `stage_cell` was given.
      number: the call's, in its cell.
      target: the label of the target.
      method: the request's name.
      params: its parameters, but for the number of the program in its panel.
    """
    staged = kept(handle, number)
    inspection = staged.inspection.targets.get(target) if staged is not None else None
    if inspection is None:
        return None
    try:
        asked = named(dispatch.methods(), method, params)
        result, buffers = answered_at_once(asked, [inspection.program], params)
    except Exception as error:
        refused = failure(error)
        return {"error": {"kind": refused.kind.value, "message": str(refused), "log": refused.has_log}}
    return {"result": json.dumps(result), "buffers": [bytes(each) for each in buffers]}
