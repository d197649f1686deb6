"""What documents are called, by kind: those of the stages, and the texts of kernels."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from jaxstage_ext.report.document_kinds import KINDS
from jaxstage_ext.report.frames import EVERYTHING

KERNEL_TITLES: Mapping[str, str] = MappingProxyType(
    {
        "llvm0": "LLVM IR, not optimised",
        "llvm": "LLVM IR",
        "asm": "assembly",
        "ttir": "Triton IR",
        "ptx": "PTX",
        "sass": "SASS",
        "mosaic": "Mosaic",
        "bundles": "VLIW bundles (experimental)",
    }
)


def title_of(kind: str, is_optimised: bool = True) -> str:
    """The title of a document: "optimised HLO", or "PTX of fusion_3" for "ptx:fusion_3"."""
    if kind == "hlo" and not is_optimised:
        return "HLO, not optimised"
    if kind in KINDS:
        return KINDS[kind].title
    stage, _, name = kind.partition(":")
    if kind == "python:":
        return "whole source files"
    if stage == "python":
        return "source of the libraries" if name == EVERYTHING else f"source of {name}"
    return f"{KERNEL_TITLES.get(stage, stage)} of {name}" if name else kind
