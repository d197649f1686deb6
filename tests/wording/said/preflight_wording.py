"""Which processes of a job disagree, in what, and why."""

from __future__ import annotations

from dataclasses import replace

from jaxstage_ext.processes import preflight_wording as wording
from jaxstage_ext.processes.arrival import Arrival, ComparedPart, EndKind, ProcessEnd
from jaxstage_ext.processes.disagreement import Disagreement, DisagreementCause
from jaxstage_ext.processes.flow.value_origin import Suspect, ValueOrigin
from jaxstage_ext.processes.program_texts import CodePlace

SUSPECT = Suspect(ValueOrigin.PROCESS, 9, "scale = jax.process_index()")


def arrival(process: int, program: str = "jit_step", place: str = "train.py:31") -> Arrival:
    return Arrival(process, "node", program, place, {})


def differ(part: ComparedPart, cause: DisagreementCause, groups: list[tuple[int, ...]]) -> Disagreement:
    place = CodePlace("train.py", 12, "y = x * scale", (SUSPECT,))
    arrivals = {process: arrival(process) for group in groups for process in group}
    return Disagreement(
        cause, 3, arrivals, groups={part: groups}, place=place, suspect=SUSPECT, collectives={0: 2, 1: 1}
    )


ENDS = {
    "error": ProcessEnd(1, EndKind.ERROR, "ValueError: bad batch", "train.py:20", 2, "jit_step"),
    "left": ProcessEnd(1, EndKind.LEFT, "", "", 0, ""),
}
CAUSES = {"error": DisagreementCause.ERROR, "left": DisagreementCause.LEFT}
PAIR, FOUR = [(0,), (1,)], [(0, 2, 3), (1,)]
BRANCH = differ(ComparedPart.STABLEHLO, DisagreementCause.PROCESS_BRANCH, PAIR)
SWAPPED = Disagreement(
    DisagreementCause.PROGRAM_ORDER,
    2,
    {0: arrival(0, "jit_f"), 1: arrival(1, "jit_g")},
    groups={ComparedPart.ORDER: PAIR},
)
SAID = {
    **{f"{cause.value}": wording.CAUSES[cause] for cause in DisagreementCause},
    **{f"next step, {cause.value}": wording.NEXT_STEPS[cause] for cause in DisagreementCause},
    **{f"part {part.value}": wording.headline(differ(part, DisagreementCause.UNKNOWN, FOUR)) for part in ComparedPart},
    **{f"origin {origin.value}": wording.ORIGINS[origin] for origin in ValueOrigin},
    "parts": [wording.PARTS[part] for part in ComparedPart],
    "next step, another order by the process index": wording.next_step(
        replace(SWAPPED, cause=DisagreementCause.PROCESS_BRANCH)
    ),
    "two differ": wording.headline(BRANCH),
    "where the value comes from": [
        wording.suspect_line(BRANCH),
        wording.suspect_line(replace(BRANCH, suspect=replace(SUSPECT, cell="In [2] below %%px", line=12))),
    ],
    "what the call takes": wording.call_line(replace(BRANCH, call=CodePlace("train.py", 31, "f(s, x)", (SUSPECT,)))),
    "collectives": wording.collectives(BRANCH),
    "order": wording.headline(SWAPPED),
    "of what was only staged": [wording.headline(replace(each, number=0)) for each in (BRANCH, SWAPPED)],
    **{
        f"one has ended, {name}": wording.headline(Disagreement(CAUSES[name], 3, {0: arrival(0)}, (1,), {1: end}))
        for name, end in ENDS.items()
    },
    **{f"how it ended, {name}": wording.ended(end) for name, end in ENDS.items()},
    "one did not come": wording.headline(
        Disagreement(DisagreementCause.ABSENT, 1, {1: arrival(1), 2: arrival(2, place="")}, (0,), seconds=300.2)
    ),
    "what it did last": wording.not_arrived(0, ("jit_init", "jit_step")),
    "it did nothing": wording.not_arrived(0, ()),
    "waits": wording.waiting(10.2, (1, 3), arrival(0)),
    "the store is gone": wording.store_lost("UNAVAILABLE"),
    "not compared": [wording.ahead_of_time(1), wording.ahead_of_time(3)],
    "a fault": [wording.failed("KeyError: 'x'"), wording.failed(wording.ELSEWHERE)],
    "ordinals": [wording.ordinal(number) for number in (1, 2, 3, 4, 11, 12, 13, 21, 112)],
}
