"""The kinds of documents that the stages leave, in their order, and what people call them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class DocumentKind:
    """What one kind of document is called.

    Attributes:
      title: of the document.
      operation, operations: what one of its operations is called, and several; empty for source code, which has none.
    """

    title: str
    operation: str = ""
    operations: str = ""


KINDS: Mapping[str, DocumentKind] = MappingProxyType(
    {
        "python": DocumentKind("source"),
        "jaxpr": DocumentKind("jaxpr", "eqn", "equations"),
        "stablehlo": DocumentKind("StableHLO", "op", "ops"),
        "hlo": DocumentKind("optimised HLO", "instruction", "instructions"),
    }
)
"""The kinds in the order of compilation. Kernels and passes have documents of other kinds, with titles of their own."""
