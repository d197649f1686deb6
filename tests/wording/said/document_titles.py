"""What documents are called."""

from jaxstage_ext.program.head.document_titles import KERNEL_TITLES, title_of
from jaxstage_ext.report.document_kinds import KINDS
from jaxstage_ext.report.frames import EVERYTHING

SAID = {
    **{kind: title_of(kind) for kind in KINDS},
    "hlo before the passes": title_of("hlo", is_optimised=False),
    **{f"{stage} of fusion_3": title_of(f"{stage}:fusion_3") for stage in KERNEL_TITLES},
    "whole files": title_of("python:"),
    "all libraries": title_of(f"python:{EVERYTHING}"),
    "one library": title_of("python:flax"),
}
