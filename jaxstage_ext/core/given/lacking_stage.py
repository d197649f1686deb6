"""Why a given object has no answer to a question that needs an earlier stage."""

from __future__ import annotations

from jaxstage_ext.core.call import Call
from jaxstage_ext.core.staged import COMPILE, TRACE
from jaxstage_ext.report.units import with_article


def without_stablehlo(call: Call, so: str, otherwise: str) -> str:
    """`a Compiled has no StableHLO, so its memory is unknown; give its Lowered`; `otherwise` of any other call."""
    if call.given is None or call.given.stage != COMPILE:
        return otherwise
    return f"{with_article(call.given.kind)} has no StableHLO, so {so}; give the Lowered it was compiled from"


def without_jaxpr(call: Call, so: str, otherwise: str) -> str:
    """`a Lowered has no jaxpr, so its dtypes are unknown; give its Traced`; `otherwise` of any other call."""
    if call.given is None or call.given.stage == TRACE:
        return otherwise
    return f"{with_article(call.given.kind)} has no jaxpr, so {so}; give the function or its Traced"
