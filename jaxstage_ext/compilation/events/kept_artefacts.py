"""What the stages made, kept for the newest records only: executables and modules are large, and may hold arrays."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from jaxstage_ext.compilation.records.compile_record import Artefacts, CompileRecord
from jaxstage_ext.core.jax_private import jaxprs

MOST_KEPT = 32
"""Records whose artefacts are kept."""
MOST_OPERATIONS = 8
"""The same of eager operations, which are many and small."""
MOST_CODE = 256 * 2**20
"""Bytes of all kept executables and modules, by their machine code and constants."""
MOST_HELD_CONSTANTS = 2**20
"""Bytes of the arrays that a kept jaxpr may hold."""


class KeptArtefacts:
    """The records that have artefacts, by number, oldest first."""

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most = most
        self._records: OrderedDict[int, tuple[CompileRecord, int]] = OrderedDict()
        self._code = 0

    def keep(self, record: CompileRecord) -> None:
        """Keep what a record's stages have made so far, and let go of the oldest beyond the limits."""
        _, former = self._records.pop(record.number, (None, 0))
        size = _size(record.artefacts)
        self._records[record.number] = record, size
        self._code += size - former
        at_work = record.artefacts.executable is None  # its next stage is told by them
        while len(self._records) > at_work and (len(self._records) > self._most or self._code > MOST_CODE):
            _, (oldest, its_size) = self._records.popitem(last=False)
            self._code -= its_size
            oldest.artefacts = Artefacts()

    def release_executables(self) -> None:
        """Keep jaxprs alone, and modules without large constants."""
        self._code = 0
        for number, (record, _) in list(self._records.items()):
            if record.artefacts.constants > MOST_HELD_CONSTANTS:
                record.artefacts.module = None
            record.artefacts.executable = None
            size = _size(record.artefacts)
            self._records[number] = record, size
            self._code += size

    def drop(self) -> None:
        """Let go of all."""
        while self._records:
            self._records.popitem()[1][0].artefacts = Artefacts()
        self._code = 0


def _size(artefacts: Artefacts) -> int:
    """About what they take: a module and an executable hold the constants each."""
    copies = (artefacts.module is not None) + (artefacts.executable is not None)
    return _code_size(artefacts.executable) + copies * artefacts.constants


def _code_size(executable: Any) -> int:
    if executable is None:
        return 0
    try:
        return max(int(executable.size_of_generated_code_in_bytes()), 0)
    except Exception:
        return 0


def constant_bytes(jaxpr: Any) -> int:
    """The bytes of the arrays that a jaxpr holds, and keeps alive after the user has dropped them."""
    return sum(int(getattr(const, "nbytes", 0)) for const in jaxprs.constants(jaxpr))
