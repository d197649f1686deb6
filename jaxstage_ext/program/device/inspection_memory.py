"""The memory that a Program keeps in use, as far as that is known without computing anything."""

from __future__ import annotations

from typing import NamedTuple

import jax
import numpy as np

from jaxstage_ext.core.inputs import pytree_paths
from jaxstage_ext.ir.lazy_documents import Documents
from jaxstage_ext.program.program import Program


class HeldBytes(NamedTuple):
    """Bytes of one part of a Program; None for the reason given."""

    part: str
    bytes: int | None
    reason: str | None = None


def held_memory(program: Program) -> tuple[HeldBytes, ...]:
    """The texts that were read, the arrays among the arguments, and the machine code of the executable."""
    return _documents(program), _arguments(program), _executable(program)


def _documents(program: Program) -> HeldBytes:
    documents = program.documents
    held = documents.held if isinstance(documents, Documents) else tuple(documents.values())
    return HeldBytes("documents", sum(len(document.text) for document in held))


def _arguments(program: Program) -> HeldBytes:
    leaves = pytree_paths.leaves((program.call.args, dict(program.call.kwargs)))
    return HeldBytes("arguments", sum(map(_array_bytes, leaves)))


def _array_bytes(leaf: object) -> int:
    if isinstance(leaf, jax.Array) and not isinstance(leaf, jax.core.Tracer):
        return 0 if leaf.is_deleted() else leaf.nbytes
    return leaf.nbytes if isinstance(leaf, np.ndarray) else 0


def _executable(program: Program) -> HeldBytes:
    if program.executable is None:
        return HeldBytes("executable", 0)
    if not program.target.is_local:
        return HeldBytes("executable", None, "a worker compiled it, and this kernel holds none of it")
    statistics = program.results.known("memory statistics")
    size = statistics.sizes.get("generated_code_size_in_bytes", 0) if statistics else 0
    unknown = "XLA gives no size of its machine code" if statistics else "not counted yet"
    return HeldBytes("executable", size or None, None if size else unknown)
