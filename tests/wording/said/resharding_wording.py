"""Reshardings, and values that every device gathers whole."""

from dataclasses import replace

from collective_facts import GATHER, REDUCE, row

from jaxstage_ext.analysis.collectives.collective_causes import CauseKind, CollectiveCause, Use
from jaxstage_ext.analysis.margin import resharding_wording as wording

CAUSE = CollectiveCause(
    CauseKind.RESHARDING, ("max",), ("dot_general",), before=("P('data')",), after=(Use("P('model')"),)
)
SAID = {
    **{f"advice: {advice.name}": advice.value for advice in wording.ReshardingAdvice},
    "needed with another sharding": wording.resharding(CAUSE),
    "used beside another operand": wording.resharding(replace(CAUSE, after=(Use("P('model')", "P(None)"), Use("P()")))),
    "used by the result too": wording.resharding(replace(CAUSE, is_result=True)),
    "no user is known": wording.resharding(replace(CAUSE, users=(), inferred=True)),
    "as it is, and more of it": wording.resharding(replace(CAUSE, after=(Use("P('data')"),))),
    "unknown shardings": wording.resharding(replace(CAUSE, before=(), why_unknown="the module was not kept")),
    "cost of one": wording.cost(["max"], [row(REDUCE)], "In [2]:3"),
    "cost of two": wording.cost(["max", "dot"], [row(REDUCE), row(GATHER)], ""),
    "cost that is unknown": wording.cost(["max"], [row(REDUCE, seconds=None, sent=None)], ""),
}
