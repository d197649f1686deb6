"""Why a given object has no answer to a question that needs an earlier stage."""

from __future__ import annotations

from jaxstage_ext.core.call import Call
from jaxstage_ext.core.given.given_object import GivenObject
from jaxstage_ext.core.stage.stage_definition import COMPILE, TRACE
from jaxstage_ext.report.text.units import with_article


def without_stablehlo(call: Call, so: str, otherwise: str) -> str:
    """`a Compiled has no StableHLO, so its memory is unknown; give its Lowered`; `otherwise` of any other call."""
    if call.given is None or call.given.stage != COMPILE:
        return otherwise
    how = "open its StableHLO instead" if call.given.is_file else "give the Lowered it was compiled from"
    return f"{_named(call.given)} has no StableHLO, so {so}; {how}"


def without_jaxpr(call: Call, so: str, otherwise: str) -> str:
    """`a Lowered has no jaxpr, so its dtypes are unknown; give its Traced`; `otherwise` of any other call."""
    if call.given is None or call.given.stage == TRACE:
        return otherwise
    return f"{_named(call.given)} has no jaxpr, so {so}; give the function or its Traced"


def how_to_compile(call: Call) -> str:
    """What compiles a call that was not: "inspect it with stage='compile'", or of a module in a file a target."""
    given = call.given
    if given is None or not given.is_file:
        return "inspect it with stage='compile'"
    return f"name a target, such as {given.example}"


def _named(given: GivenObject) -> str:
    return given.kind if given.is_file else with_article(given.kind)
