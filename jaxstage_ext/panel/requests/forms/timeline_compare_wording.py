"""Why a timeline has nothing to compare with, and what gives it something."""

from __future__ import annotations

from jaxstage_ext.report.text.typed_forms import typed


def one_step() -> str:
    """Of a profile that stands alone."""
    several = typed("%profile -n 3 CALL", "jaxstage_ext.profile(f, ..., steps=3)")
    two = typed("open two profiles with %timeline A B", "compare two with first.timeline.compare(second.timeline)")
    return f"Nothing to compare: the profile has one step. Profile several with {several}, or {two}."


def no_profile() -> str:
    """Of a prediction, of whose call there is no profile."""
    return typed(
        "Nothing to compare with: open a profile of the call with %timeline FILE --with INSPECTION, and its "
        "instructions are compared with these estimates.",
        "Nothing to compare with: .predicted.against(profile) of the inspection compares these estimates with a "
        "profile of the call, which jaxstage_ext.profile or jaxstage_ext.load gives.",
    )
