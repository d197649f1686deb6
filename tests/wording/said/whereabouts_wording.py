"""Where the processes of a job are."""

from __future__ import annotations

from jaxstage_ext.processes.engines import whereabouts_wording as wording
from jaxstage_ext.processes.engines.unequal_calls import UnequalCalls
from jaxstage_ext.processes.engines.whereabouts import EngineActivity, NamedLine, ProgramPlace, Whereabouts

LINE = NamedLine("In [3]:2", "loss = step(params, batch)")
PROGRAM = ProgramPlace("jit_step", "f.py", 3, 4)
IN_PROGRAM = Whereabouts(0, EngineActivity.PROGRAM, LINE, PROGRAM, seconds=6.0)
ENDED = [Whereabouts(process, EngineActivity.ENDED, reason="killed by SIGKILL") for process in (0, 1)]
SAID = {
    **{f"does {activity.value}": wording.where(Whereabouts(1, activity)) for activity in EngineActivity},
    "in a program": wording.where(IN_PROGRAM),
    "in a program, by its name": wording.where(
        Whereabouts(0, EngineActivity.PROGRAM, LINE, PROGRAM, is_inferred=True, seconds=6.0)
    ),
    "unknown, another host": wording.where(Whereabouts(2, EngineActivity.UNKNOWN, reason=wording.other_host("node7"))),
    "unknown, no stack": wording.where(Whereabouts(2, EngineActivity.UNKNOWN, reason=wording.NO_STACK)),
    "idle, and its programs are not": [
        wording.where(Whereabouts(1, EngineActivity.IDLE, unready=count)) for count in (1, 3)
    ],
    "ended": wording.where(ENDED[1]),
    "all ended": wording.lost_coordinator(ENDED),
    "one ended": wording.lost_coordinator(ENDED[1:]),
    "one makes a call more": [
        wording.unequal(UnequalCalls(((1, "jit_step"),), (0,))),
        wording.unequal(UnequalCalls(((1, "jit_step"), (3, "jit_step")), (0, 2))),
        wording.unequal(UnequalCalls(((1, ""),), (0,))),
        wording.unequal(UnequalCalls(((1, "jit_step"),), (0, 2), (0,))),
    ],
    "in different programs": wording.unequal(UnequalCalls(((0, "jit_step"), (1, "jit_total")))),
    "no answer, and why": wording.no_answer([IN_PROGRAM], 5.02, UnequalCalls(((0, "jit_step"),), (1,))),
    "no answer": wording.no_answer([IN_PROGRAM, Whereabouts(1, EngineActivity.IDLE)], 5.02),
    "late": wording.late(IN_PROGRAM, 5.0),
    "no last program": wording.NOT_HERE,
    "what ends it": wording.REMEDY,
}
