"""The kinds of layout, by what the axes of the mesh do."""

from __future__ import annotations

from enum import Enum


class LayoutKind(Enum):
    """A kind of parallelism, or a mixture of them."""

    REPLICATED = "replicated"
    DATA = "data parallel"
    FSDP = "FSDP"
    TENSOR = "tensor parallel"
    TWO_D = "2-D tensor parallel"
    EXPERT = "expert parallel"
    SPATIAL = "spatial"
    DATA_TENSOR = "data × tensor"
    FSDP_TENSOR = "FSDP × tensor"
    DATA_EXPERT = "data × expert"
    DATA_SPATIAL = "data × spatial"
    MIXED = "mixed"
