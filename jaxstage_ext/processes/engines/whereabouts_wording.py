"""What is said of where the processes of a job are."""

from __future__ import annotations

from collections.abc import Sequence

from jaxstage_ext.processes.ended_wording import ENDED
from jaxstage_ext.processes.engines.unequal_calls import UnequalCalls
from jaxstage_ext.processes.engines.whereabouts import EngineActivity, NamedLine, Whereabouts
from jaxstage_ext.report.text.process_names import process_names
from jaxstage_ext.report.text.terminal import clean, cut
from jaxstage_ext.report.text.units import duration, plural

_LONGEST_CODE = 60
COORDINATOR = "process 0 keeps JAX's coordinator, without which JAX ends the other processes"
NO_STACK = "it did not write its stack within a second"
_ACTIVITIES = {
    EngineActivity.IDLE: "idle",
    EngineActivity.PROGRAM: "in a program",
    EngineActivity.GUARD: "waits at the guard for the other processes",
    EngineActivity.RESULT: "waits for a result",
    EngineActivity.COMPILING: "compiling",
    EngineActivity.TRACING: "tracing",
    EngineActivity.PYTHON: "running Python",
    EngineActivity.ENDED: "ended",
    EngineActivity.UNKNOWN: "unknown",
}
NOT_HERE = "its notes are on another host"
REMEDY = "%processes end K ends process K, %processes restart begins all anew"


def other_host(host: str) -> str:
    """Why nothing is known of a busy process of another host."""
    return f"it is busy, and on {host}, whose processes this kernel cannot ask meanwhile"


def where(one: Whereabouts) -> str:
    """Where a process is, in one line."""
    return f"process {one.process}: {activity(one)}"


def activity(one: Whereabouts) -> str:
    """What a process is doing, without its index."""
    words = _ACTIVITIES[one.activity]
    if one.program is not None:
        name = f"{one.program.name}{' (inferred)' if one.is_inferred else ''}"
        words = f"in {clean(name)}, a program of {plural(one.program.processes, 'process', 'processes')}"
    words += f" ({clean(one.reason)})" if one.reason not in ("", ENDED) else ""
    if one.activity is EngineActivity.IDLE and one.unready:
        words += f", with {plural(one.unready, 'array')} that {'is' if one.unready == 1 else 'are'} not computed yet"
    seconds = "" if one.seconds is None else duration(one.seconds)
    label = "" if one.line is None else clean(one.line.label)
    return ", ".join(filter(None, (words, label, seconds))) + _code(one.line)


def _code(line: NamedLine | None) -> str:
    """The text of a line of code, after all else."""
    code = "" if line is None else cut(clean(line.code), _LONGEST_CODE)
    return f": {code}" if code else ""


def late(one: Whereabouts, seconds: float) -> str:
    """Why a process that is not waited for has not answered."""
    return f"no answer within {duration(seconds)}; the process is {activity(one)}"


def lost_coordinator(found: Sequence[Whereabouts]) -> str:
    """Why processes have ended that nobody killed; "" unless process 0 has."""
    ended = [one.process for one in found if one.activity is EngineActivity.ENDED]
    return COORDINATOR if 0 in ended and len(ended) > 1 else ""


def unequal(found: UnequalCalls) -> str:
    """That processes wait because others do not make the same calls, if it stays so."""
    if not found.finished:
        inside = ", ".join(f"process {process} is {_in(name)}" for process, name in found.inside)
        return f"{inside}: if this stays so, their order of calls differs, or one makes a call more"
    waiting, name = tuple(process for process, _ in found.inside), found.inside[0][1]
    is_one, who = len(waiting) == 1, process_names(waiting)
    more = "" if found.failed else f"{'makes' if is_one else 'make'} a call more and "
    return (
        f"{who} {'is' if is_one else 'are'} {_in(name)}, in a cell that {_finished(found)}: if this stays so, "
        f"{who} {more}{'waits' if is_one else 'wait'} {'for ever' if name else 'in vain'}"
    )


def _in(name: str) -> str:
    return f"in {clean(name)}" if name else "at the guard"


def _finished(found: UnequalCalls) -> str:
    """Who has finished a cell, those with an error first."""
    well = tuple(process for process in found.finished if process not in found.failed)
    kinds = ((found.failed, "ended with an error"), (well, "finished"))
    return " and ".join(
        f"{process_names(who)} {'has' if len(who) == 1 else 'have'} {what}" for who, what in kinds if who
    )


def no_answer(found: Sequence[Whereabouts], seconds: float, calls: UnequalCalls | None = None) -> str:
    """Not all processes have answered: where they are."""
    each = "; ".join([*map(where, found), *([unequal(calls)] if calls is not None else [])])
    return f"no answer from all processes after {duration(seconds)}: {each}; {REMEDY}"
