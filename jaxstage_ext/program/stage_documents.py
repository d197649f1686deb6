"""How the documents of a call's stages are read, each from what its stage returned."""

from __future__ import annotations

import inspect as _inspect
from typing import Any

from jaxstage_ext.core import jax_private
from jaxstage_ext.core.call import Call
from jaxstage_ext.core.targets.cross_compile import Executable
from jaxstage_ext.ir import cached_documents, stablehlo
from jaxstage_ext.ir.source import FrameTable, is_user
from jaxstage_ext.report.document import Document
from jaxstage_ext.report.errors import StageError
from jaxstage_ext.store import cache


def read_stablehlo(lowered: Any, table: FrameTable) -> Document:
    """The StableHLO of a `jax.stages.Lowered`; the same module is read once."""
    key = cache.key("stablehlo", jax_private.module_bytecode(lowered)) if cache.enabled() else None

    def read() -> Document:
        return stablehlo.read(*jax_private.stablehlo_texts(lowered), table)

    return cached_documents.document(key, read, table)


def hlo_text(compiled: Any, module: Any, spelled_out: bool) -> str:
    """XLA's text of the optimised module: of another process's executable, or of a module of this one."""
    if isinstance(compiled, Executable):
        return compiled.text or ""
    return jax_private.hlo_text(module, spelled_out)


def first_places(call: Call, error: StageError | None) -> list[tuple[str, int]]:
    """(file, line) where a reader of the source starts: the line of the error, then the function itself."""
    places = []
    if error is not None and (span := error.span) is not None:
        places.append((span.file, span.line))
    fn = _inspect.unwrap(getattr(call.fn, "func", call.fn))
    code = getattr(getattr(fn, "__func__", fn), "__code__", None)
    if code is not None and is_user(code.co_filename):
        places.append((code.co_filename, code.co_firstlineno))
    return places
