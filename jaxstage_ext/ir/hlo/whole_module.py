"""Whether a module that was kept elsewhere is whole: all that it refers to is in it, and its text is of its proto."""

from __future__ import annotations

import hashlib
import re

import numpy as np

from jaxstage_ext.ir.hlo import module
from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.store import cache

_checked = cache.table(1_000_000)
"""Checksums of the modules and texts that were found whole: a second look need not parse them for that."""
_INSTRUCTION = re.compile(rb"^  (?:ROOT )?%([^\s=]+) = ", re.MULTILINE)


def read(proto: bytes) -> Module:
    """Parse a serialised HloModuleProto. Raises ValueError unless it is a whole module."""
    parsed = module.parse(proto)
    names, computations = parsed.names, parsed.computations
    if not len(parsed) or not parsed.header.name or parsed.header.entry_computation_id not in parsed.computation_of_id:
        raise ValueError("not a module with an entry computation")
    if len(set(names)) < len(names) or b"" in names or len(set(computations)) < len(computations):
        raise ValueError(f"module {parsed.header.name} has names that are empty or not unique")
    if any((rows < 0).any() for rows in (parsed.operands.values, parsed.called.values, parsed.roots)):
        raise ValueError(f"module {parsed.header.name} refers to instructions or computations that it does not have")
    if (parsed.opcode == b"").any() or len(parsed.shape_field.row) != len(parsed):
        raise ValueError(f"module {parsed.header.name} has instructions without an opcode or a shape")
    return parsed


def check(proto: bytes, text: str) -> None:
    """Raise ValueError unless the proto is a whole module and the text is its own."""
    digest = hashlib.sha256(len(proto).to_bytes(8, "little") + proto + text.encode()).hexdigest()
    if _checked.get(digest) is None:
        check_text(read(proto), text)
        _checked.put(digest, True, len(digest))


def check_text(parsed: Module, text: str) -> None:
    """Raise ValueError unless the text is one of this module; it may leave out what asynchronous instructions wrap."""
    head = text.partition("\n")[0].partition(",")[0]
    if head != f"HloModule {parsed.header.name}" or not text.rstrip("\n").endswith("\n}"):
        raise ValueError(f"{head[:100]!r} does not begin the whole text of module {parsed.header.name}")
    shown, entry = set(_INSTRUCTION.findall(text.encode())), np.flatnonzero(parsed.computation == parsed.entry)
    if not {parsed.names[row] for row in entry.tolist()} <= shown <= set(parsed.names):
        raise ValueError(f"the text's instructions are not those of module {parsed.header.name}")
