"""Where each process of a job is: those of this machine are asked by a pipe, others by a call."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from jaxstage_ext.processes.engines import whereabouts_wording as wording
from jaxstage_ext.processes.engines.engine_process import EngineChannel, EngineProcess
from jaxstage_ext.processes.engines.process_stack import ToldStack, ask_for_stacks
from jaxstage_ext.processes.engines.whereabouts import (
    EngineActivity,
    EngineNotes,
    LineNames,
    Whereabouts,
    notes_of,
    whereabouts,
)
from jaxstage_ext.processes.inside.engine_call import EngineCall

_REMOTE = 1.0
"""Seconds that a process of another host has to answer, if it is idle."""
_MOST_BYTES = 1 << 20
"""Of a journal, from its end."""


def locate(processes: Sequence[EngineProcess], channel: EngineChannel, names: LineNames) -> list[Whereabouts]:
    """Where each process is just now, in their order."""
    ended = {one.process: channel.how_it_ended(one) for one in processes}
    files = [one.stacks for one in processes if one.stacks is not None and ended[one.process] is None]
    stacks = ask_for_stacks(files)
    return [_where(one, channel, ended[one.process], stacks.get(one.pid), names) for one in processes]


def _where(
    one: EngineProcess, channel: EngineChannel, ended: str | None, stack: ToldStack | None, names: LineNames
) -> Whereabouts:
    if ended is not None:
        return Whereabouts(one.process, EngineActivity.ENDED, reason=ended)
    if stack is not None:
        found = whereabouts(one.process, stack.frames, notes(one), names, time.time())
        return replace(found, unready=stack.unready)
    if (ended := channel.how_it_ended(one)) is not None:  # since it was asked
        return Whereabouts(one.process, EngineActivity.ENDED, reason=ended)
    if one.stacks is not None and one.stacks.is_here:
        return Whereabouts(one.process, EngineActivity.UNKNOWN, reason=wording.NO_STACK)
    pending = channel.send(one, EngineCall("os:getpid"))
    if not pending.wait(_REMOTE):
        return Whereabouts(one.process, EngineActivity.UNKNOWN, reason=wording.other_host(one.host))
    if (failure := pending.answer().failure) is not None:
        return Whereabouts(one.process, EngineActivity.ENDED, reason=failure.message)
    return Whereabouts(one.process, EngineActivity.IDLE)


def notes(one: EngineProcess) -> EngineNotes:
    """What a process of this machine has noted; nothing where its journal is not here."""
    try:
        with open(one.journal, "rb") as file:
            file.seek(max(file.seek(0, 2) - _MOST_BYTES, 0))
            return notes_of(file.read().decode("utf-8", "replace"))
    except OSError:
        return EngineNotes()


def last_program(one: EngineProcess) -> str | None:
    """The last program of several processes that one has run for the first time; "" for none, None: not known."""
    if one.stacks is None or not one.stacks.is_here:
        return None
    programs = notes(one).programs
    return programs[-1].name if programs else ""
