"""`findings FILE.py "step(params, batch)"`: what to change in the program of a call."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jaxstage_ext.command import command_wording as wording
from jaxstage_ext.command.command_error import CommandError
from jaxstage_ext.command.thresholds import threshold
from jaxstage_ext.command.user_file import imported_file
from jaxstage_ext.command.written_call import parsed_call, written_call, written_specs
from jaxstage_ext.report import measuring

if TYPE_CHECKING:
    from jaxstage_ext.api.inspection import Inspection
    from jaxstage_ext.findings.found import Findings

FAILED = 1


@measuring.left_alone()
def findings_command(options: Namespace) -> tuple[str, int]:
    """What is printed, and the exit status. Raises CommandError.

    Nothing of this machine is measured: the same program has the same status on every machine.
    """
    limit = threshold(options.fail_on) if options.fail_on else None
    inspection = inspected(options)
    found = inspection.findings.all() if options.all else inspection.findings
    reached = [one for one in found if limit is not None and limit.reaches(one)]
    lines = [wording.failed(len(reached), limit.text)] if limit is not None else []
    unjudged = limit.unjudged(found.found) if limit is not None else 0
    lines += [wording.not_judged(unjudged)] if unjudged else []
    text = json.dumps(_form(inspection, found, len(reached))) if options.json else _text(inspection, found, lines)
    return text, FAILED if reached else 0


def inspected(options: Namespace) -> Inspection:
    """The inspection that a command line asks for. Raises CommandError."""
    written = parsed_call(options.call)
    print(wording.runs(Path(options.file).name, options.call), file=sys.stderr)
    module = imported_file(options.file, options.arguments)
    call = written_call(written, options.call, module)
    specs = {"in_specs": written_specs(options.in_spec, module)} if options.in_spec else {}
    from jaxstage_ext.api.inspect import inspect

    try:
        target = "local" if options.target is None else options.target
        return inspect(call.fn, *call.args, target=target, mesh=options.mesh, **specs, **call.kwargs)
    except Exception as error:
        raise CommandError(wording.not_staged(options.call, _why(error))) from None


def _why(error: BaseException) -> str:
    """Where a stage failed and why, in a line; what was asked wrongly as it is said."""
    staged: Any = getattr(error, "inspection", None)
    first = next((line for line in str(error).splitlines() if line.strip()), "")
    if staged is None or staged.error is None:
        return first or type(error).__name__
    span = staged.error.span
    place = f" at {span.label}:{span.line}" if span is not None else ""
    return f"{staged.error.stage} failed{place}: {staged.error.type}: {first}"


def _text(inspection: Inspection, found: Findings, lines: list[str]) -> str:
    summary = inspection.summary()
    figures = " · ".join(f"{one['label']} {one['text']}" for one in summary["facts"])
    return "\n\n".join([f"{summary['signature']} for {summary['target']}\n{figures}", str(found), *lines])


def _form(inspection: Inspection, found: Findings, reached: int) -> dict[str, Any]:
    summary = inspection.summary()
    figures = [{name: fact[name] for name in ("label", "text", "known", "reason", "note")} for fact in summary["facts"]]
    head = {"call": summary["signature"], "target": summary["target"], "figures": figures, "reached": reached}
    return {**head, **json.loads(found.to_json())}
