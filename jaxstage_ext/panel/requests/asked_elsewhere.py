"""Requests about a program that another process holds: they are answered there, but for those of documents."""

from __future__ import annotations

from jaxstage_ext.panel import jobs
from jaxstage_ext.panel.params import Answer, Method, Params, Programs, program
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.program_elsewhere import ProgramElsewhere
from jaxstage_ext.program.tab.tab_record import Tab

_METHOD = "method elsewhere"
HERE = ("compare", "timeline", "sharding_search")
"""Tabs that are answered from what is here, or not at all."""


def is_there(programs: Programs, params: Params, tab: Tab | None) -> bool:
    """Whether a request of a tab is answered by another process."""
    number = params.get("call")
    if tab is None or tab.name in HERE or type(number) is not int or not 0 <= number < len(programs):
        return False
    return programs[number].elsewhere is not None


def answer_there(method: str, answering: Method, programs: Programs, params: Params) -> Answer:
    """What the other process answers; of what takes long that it is pending, as here."""
    if isinstance(answering, jobs.Slow):
        return _SLOW(programs, {**params, _METHOD: method})
    return _holder(program(programs, params)).answer(method, _of_program(params), is_slow=False)


def stop_there(method: str, programs: Programs, params: Params) -> bool:
    """Wait for an answer no longer; whether one was waited for."""
    return _SLOW.stop(programs, {**params, _METHOD: method})


def _answer(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    holder = _holder(program(programs, params))
    return holder.answer(str(params[_METHOD]), _of_program(params), is_slow=True)


def _holder(one: Program) -> ProgramElsewhere:
    assert one.elsewhere is not None
    return one.elsewhere


def _of_program(params: Params) -> dict[str, object]:
    return {name: value for name, value in params.items() if name not in ("call", _METHOD)}


_SLOW = jobs.slow(_answer)
