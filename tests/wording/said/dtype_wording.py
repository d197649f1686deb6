"""Conversions of dtypes."""

from dataclasses import replace

from wordings import constants

from jaxstage_ext.analysis.dtypes import dtype_wording as wording
from jaxstage_ext.analysis.dtypes.conversions import CONVERT, Change, Conversion, ConversionStage, Origin

JAXPR, HLO = ConversionStage.JAXPR, ConversionStage.HLO
WIDER = Conversion(
    JAXPR, "bf16", "f32", Change.PROMOTION, (8, 128), False, 1, 2048, None, Origin.PROGRAM, CONVERT, ("dot",), False,
    "In [2]:3",
)  # fmt: skip
NARROWER = replace(WIDER, source="f32", target="bf16", kind=Change.DEMOTION, grows=-2048)
OTHER = replace(WIDER, source="i32", target="f32", kind=Change.CHANGE, grows=0)
ADDED = replace(WIDER, stage=HLO, by=Origin.COMPILER, written=4096, primitive="dot_general")
INSIDE = replace(ADDED, written=0)
DOUBLE = replace(WIDER, source="f32", target="f64", line="In [2]:5")
INFECTS = replace(WIDER, infects=37, infected=12_300_000)
INFECTS_ONE = replace(WIDER, infects=1, infected=4096, users=(), line="")
INFECTS_NONE = replace(WIDER, infects=0)
SAID = {
    **constants(wording),
    "none": wording.headline([]),
    "a promotion": wording.headline([WIDER]),
    "one of each kind": wording.headline([WIDER, WIDER, NARROWER, OTHER]),
    "the compiler's, to memory": wording.headline([WIDER, ADDED, ADDED]),
    "the compiler's, inside fusions": wording.headline([NARROWER, INSIDE]),
    "the compiler's alone": wording.headline([replace(ADDED, kind=Change.DEMOTION)]),
    "infects": wording.headline([INFECTS]),
    "infects: one": wording.headline([INFECTS_ONE]),
    "infects: none": wording.headline([INFECTS_NONE]),
    "infects: a later one more": wording.headline([INFECTS_ONE, INFECTS]),
    "infects: because of another": wording.headline([INFECTS, replace(INFECTS_NONE, because="In [2]:3")]),
    "infects nothing: a demotion": wording.infects_nothing(NARROWER),
    "infects nothing: of HLO": wording.infects_nothing(ADDED),
    "64 bits": wording.headline([DOUBLE]),
    "no line": wording.headline([replace(WIDER, line="")]),
    "purpose: users": wording.purpose(WIDER),
    "purpose: a Python scalar": wording.purpose(replace(WIDER, with_scalar=True)),
    "purpose: accumulates": wording.purpose(replace(WIDER, primitive="dot_general")),
    "purpose: the compiler's": wording.purpose(ADDED),
}
