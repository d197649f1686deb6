"""Collectives."""

from dataclasses import replace

from collective_facts import GATHER, REDUCE, row
from wordings import constants

from jaxstage_ext.analysis.collectives import collective_wording as wording
from jaxstage_ext.analysis.collectives.collective_causes import CauseKind, CollectiveCause, Use
from jaxstage_ext.analysis.collectives.device_groups import Groups

LINE = "In [2]:3"
SUMS = CollectiveCause(CauseKind.PARTIAL_SUMS, ("dot",))
FIRST = row(REDUCE, causes=(SUMS,))
HIDDEN, PARTLY = row(GATHER, meanwhile=(1,), hidden=1e-3), row(GATHER, meanwhile=(1,), hidden=0.4e-3)
NO_TIME = row(REDUCE, seconds=None, why_no_seconds="no link speed on file")
EXPOSED = replace(FIRST, hidden=0.0)
SAID = {
    **constants(wording),
    "none on one device": wording.headline((), "", 1),
    "none on 1,024 devices": wording.headline((), "", 1024),
    "one": wording.headline([FIRST], LINE, 4),
    "one without a line, by its devices, in a loop": wording.headline(
        [replace(FIRST, groups=row(REDUCE, ()).groups, causes=(), runs=12)], "", 4
    ),
    "partly hidden": wording.headline([PARTLY], LINE, 4),
    "time unknown": wording.headline([NO_TIME], LINE, 4),
    "two, all exposed": wording.headline([EXPOSED, EXPOSED], LINE, 4),
    "two, all hidden": wording.headline([HIDDEN, HIDDEN], LINE, 4),
    "two, one partly hidden": wording.headline([EXPOSED, PARTLY], LINE, 4),
    "two, nearly all exposed": wording.headline([EXPOSED, row(GATHER, meanwhile=(1,), hidden=1e-9)], LINE, 4),
    "two, one in a loop of unknown length": wording.headline([EXPOSED, row(GATHER, in_unknown_loop=True)], LINE, 4),
    "two, of which no device sends both": wording.headline(
        [replace(NO_TIME, groups=Groups(((0, 1),), True)), replace(NO_TIME, groups=Groups(((1, 2),), True))], LINE, 4
    ),
    "two, no time": wording.headline([NO_TIME, NO_TIME], LINE, 4),
    **{
        f"cause: {kind.name}": wording.cause(CollectiveCause(kind, ("x", "y"), ("dot", "add"), inferred=True))
        for kind in CauseKind
    },
    "cause: resharding of a result": wording.cause(CollectiveCause(CauseKind.RESHARDING, ("x",), is_result=True)),
    "cause: resharding for nobody": wording.cause(CollectiveCause(CauseKind.RESHARDING, ("x",))),
    "before": wording.before(CollectiveCause(before=("P('x')", "P()"))),
    "after": wording.after(CollectiveCause(after=(Use("P('x')", "P()"), Use("P()")))),
    "between two lines": wording.between(["In [2]:3", "In [2]:5"]),
    "five names": wording.listed(list("abcde"), ", "),
    "times": wording.time_note("a datasheet"),
    "loops": wording.loop_note(2, 1200),
}
