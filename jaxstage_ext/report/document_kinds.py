"""The kinds of documents that the stages leave, in order of compilation, and the words for them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DocumentKind:
    """One kind of document.

    Attributes:
      title: the title of its documents.
      operation: what one of its operations is called; empty for source code, which has none.
      operations: what several of its operations are called.
      lexer: the key of its lexer in `ir/lexers.py`; empty for text without highlighting.
    """

    title: str
    operation: str = ""
    operations: str = ""
    lexer: str = ""


KINDS: dict[str, DocumentKind] = {
    "python": DocumentKind("source"),
    "jaxpr": DocumentKind("jaxpr", "eqn", "equations", "jaxpr"),
    "stablehlo": DocumentKind("StableHLO", "op", "ops", "stablehlo"),
    "hlo": DocumentKind("optimised HLO", "instruction", "instructions", "hlo"),
}
"""All kinds, in order of compilation. Kernels and passes have documents of other kinds, with titles of their own."""
