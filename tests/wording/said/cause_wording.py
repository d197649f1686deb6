"""Why JAX compiled once more."""

from cause_facts import CAPTURED, NUMBER, PARTIAL, RECORD, both, one, record, verdict

from jaxstage_ext.compilation.causes.cause import Cause, Difference, Verdict
from jaxstage_ext.compilation.causes.cause_wording import advice, why

UNKNOWN = verdict(Cause.UNKNOWN, reason="JAX reported no arguments")
SAID = {
    **{cause.name: why(RECORD, verdict(cause)) for cause in Cause},
    "UNKNOWN, with a reason": why(RECORD, UNKNOWN),
    "FIRST of a partial": why(PARTIAL, verdict(Cause.FIRST)),
    "CACHE_CLEARED, nothing differs": why(RECORD, Verdict(Cause.CACHE_CLEARED)),
    "TRANSFORMED, another shape": why(RECORD, verdict(Cause.TRANSFORMED, NUMBER)),
    "JIT_OPTIONS, new": why(RECORD, one(Cause.JIT_OPTIONS, "donate_argnums", "", "(0,)")),
    "JIT_OPTIONS, gone": why(RECORD, one(Cause.JIT_OPTIONS, "donate_argnums", "(0,)", "")),
    "PYTREE, new": why(RECORD, one(Cause.PYTREE, "x['b']", "", "f32[8]")),
    "PYTREE, gone": why(RECORD, one(Cause.PYTREE, "x['b']", "f32[8]", "")),
    "PYTREE, a class defined again": why(RECORD, one(Cause.PYTREE, "x", "Net", "Net")),
    **{
        f"PYTREE, {now}": why(RECORD, one(Cause.PYTREE, "x", before, now))
        for before, now in [("list", "tuple"), ("dict", "list")]
    },
    "ARGUMENT_FORM, left out": why(RECORD, one(Cause.ARGUMENT_FORM, "x", "keyword", "", "2.0")),
    "ARGUMENT_FORM, given": why(RECORD, one(Cause.ARGUMENT_FORM, "x", "", "keyword", "2.0")),
    "ARGUMENT_FORM, by keyword": why(RECORD, one(Cause.ARGUMENT_FORM, "x", "positional", "keyword")),
    "PLACEMENT, sharded": why(RECORD, one(Cause.PLACEMENT, "x", "uncommitted", "P('d')")),
    "PLACEMENT, not sharded": why(RECORD, one(Cause.PLACEMENT, "x", "none", "CpuDevice(id=1)")),
    "STATIC_VALUE, of one text": why(RECORD, one(Cause.STATIC_VALUE, "x", "object", "object")),
    "STATIC_VALUE, of a new class": why(RECORD, one(Cause.STATIC_VALUE, "x", "Net", "Net", is_of_new_class=True)),
    "SETTINGS_ADDED by Pallas": why(RECORD, one(Cause.SETTINGS_ADDED, "pallas_grid_context")),
    "CONFIG, a mesh": why(RECORD, one(Cause.CONFIG, "mesh_context_manager", "none", "(data: 2)")),
    "METHOD_MADE_ANEW, an object": why(RECORD, one(Cause.METHOD_MADE_ANEW, "Net", is_callable_object=True)),
    "CAPTURED, of one text": why(RECORD, one(Cause.CAPTURED, "f", "function", "function")),
    "UNHASHABLE_STATIC, no name": why(RECORD, one(Cause.UNHASHABLE_STATIC, "")),
    "DONATED_BEFORE, no name": why(RECORD, one(Cause.DONATED_BEFORE, "")),
    "four differences": why(RECORD, verdict(Cause.SHAPE, *(Difference(Cause.SHAPE, n, "1", "2") for n in "abcd"))),
    "12 differences": why(
        RECORD, verdict(Cause.SHAPE, *(Difference(Cause.SHAPE, n, "1", "2") for n in "abcd"), more=8)
    ),
    "two differences of two causes": why(
        RECORD, verdict(Cause.MADE_ANEW, Difference(Cause.MADE_ANEW, "step"), CAPTURED)
    ),
    "advice of a function made anew, and of a shape": both(
        advice(record(), verdict(Cause.SHAPE, NUMBER, Difference(Cause.MADE_ANEW, "step")))
    ),
}
