"""The modules that a profile holds, parsed."""

from __future__ import annotations

import hashlib

from jaxstage_ext.ir import cached_documents
from jaxstage_ext.ir.hlo import module as hlo
from jaxstage_ext.ir.hlo import whole_module
from jaxstage_ext.report.recording import RecordedModule

COMMAND_BUFFER = "command_buffer"
"""How the names begin that XLA gives to command buffers (CUDA graphs) in place of the instruction of a kernel."""


def parsed(recorded: RecordedModule) -> hlo.Module | None:
    """A module that the profile holds; None where it holds none, or one that is damaged."""
    if recorded.proto is None or not (proto := recorded.proto()):
        return None
    key = f"recorded module {hashlib.sha256(proto).hexdigest()}"
    try:
        return cached_documents.value(key, lambda: whole_module.read(proto), hlo.size)
    except (ValueError, IndexError, OverflowError):
        return None
